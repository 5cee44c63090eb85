#include "app/screen/fit.hpp"

#include <cstddef>
#include <map>
#include <set>

namespace yodel {

namespace {

ui::Row row_of(const std::vector<Part>& parts, const std::vector<bool>& chosen,
               const Separators& separators) {
    ui::Row row;
    int group = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!chosen[i]) continue;
        const bool same = parts[i].group == group;
        if (!row.empty())
            ui::append(row, same ? separators.parts : separators.groups, separators.style);
        ui::append_bytes(row, parts[i].text, parts[i].style);
        group = parts[i].group;
    }
    return row;
}

}  // namespace

ui::Row fit(const std::vector<Part>& parts, int width, const Separators& separators) {
    std::multimap<int, std::size_t> by_rank;  // parts of the same rank keep their order
    for (std::size_t i = 0; i < parts.size(); ++i) by_rank.emplace(parts[i].rank, i);
    std::vector<bool> chosen(parts.size());
    std::set<int> full;  // groups
    for (const auto& [rank, i] : by_rank) {
        if (full.count(parts[i].group) > 0) continue;
        chosen[i] = true;
        if (rank == 0 || ui::display_width(row_of(parts, chosen, separators)) <= width)
            continue;
        chosen[i] = false;
        full.insert(parts[i].group);
    }
    ui::Row row = row_of(parts, chosen, separators);
    ui::truncate(row, width);
    return row;
}

}  // namespace yodel
