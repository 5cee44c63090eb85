#include "ui/transcript.hpp"

#include "ui/glyphs.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ui {
namespace {

std::size_t bytes_of(const Row& row) {
    std::size_t sum = row.size() * sizeof(Span);
    for (const auto& span : row) sum += span.text.size();
    return sum;
}

std::size_t bytes_of(const Transcript::Entry& entry) {
    return sizeof entry + entry.body.size() + bytes_of(entry.prefix) + bytes_of(entry.suffix);
}

void show_selected(Row& row, int width) {
    for (auto& span : row)
        if (span.style == Style::normal || span.style == Style::dim)
            span.style = Style::selected;
    pad(row, width, Style::selected);
}

}  // namespace

// One entry cut into rows. A unit is what is never cut: a cell, or one character of an escape.
class Transcript::Layout {
public:
    explicit Layout(std::size_t width) : width_(width) {}

    // Where a row ends: wherever it is full, or between words.
    enum class Wrap { anywhere, words };

    void put(const Row& spans, Wrap wrap) {
        for (const auto& span : spans) {
            if (span.text == "\n")
                break_row();
            else
                put(span.text, span.style, {}, wrap);
        }
    }

    void put(std::string_view bytes, Style style, std::string_view needle, Wrap wrap) {
        Cells cells(bytes);
        std::size_t match_end = 0;
        while (const auto cell = cells.next()) {
            if (!needle.empty() && bytes.compare(cell->begin, needle.size(), needle) == 0)
                match_end = cell->begin + needle.size();
            if (wrap == Wrap::words && wraps_at(bytes, cell->begin)) break_row();
            if (wrap == Wrap::words && used_ == width_ && cell->text == " ")
                ++units_;  // between two rows it is not seen
            else
                put(*cell, cell->begin < match_end ? Style::match : style);
        }
    }

    // A hex dump, on rows of its own.
    void put_hex(std::string_view bytes, Style style) {
        for (const HexRow& row : hex_dump(bytes, static_cast<int>(width_))) {
            break_row();
            put(row.text, style, {}, Wrap::anywhere);
        }
    }

    // The row that a unit is in; the last one if there is no such unit any more.
    std::size_t row_of(std::size_t unit) const {
        const auto after = std::upper_bound(first_units_.begin(), first_units_.end(), unit);
        return static_cast<std::size_t>(after - first_units_.begin()) - 1;
    }

    std::vector<Row>& rows() { return rows_; }
    std::size_t first_unit(std::size_t row) const { return first_units_[row]; }

private:
    // Whether a word begins there that fits into a row, but no more into this one.
    bool wraps_at(std::string_view text, std::size_t at) const {
        if (at > 0 && text[at - 1] != ' ') return false;
        const auto word = text.substr(at, text.find(' ', at) - at);
        const auto width = static_cast<std::size_t>(display_width(word));
        return used_ + width > width_ && width <= width_;
    }

    void put(const Cell& cell, Style style) {
        if (cell.escaped) {
            for (const char c : cell.text) put_unit({&c, 1}, 1, Style::escaped);
        } else if (const auto width = static_cast<std::size_t>(cell.width); width > width_) {
            put_unit("?", 1, Style::escaped);
        } else {
            put_unit(cell.text, width, style);
        }
    }

    void put_unit(std::string_view text, std::size_t width, Style style) {
        if (used_ + width > width_) break_row();
        ui::append(rows_.back(), text, style);
        used_ += width;
        ++units_;
    }

    void break_row() {
        rows_.emplace_back();
        first_units_.push_back(units_);
        used_ = 0;
    }

    std::size_t width_;
    std::size_t used_ = 0;  // columns of the last row
    std::size_t units_ = 0;
    std::vector<Row> rows_ = std::vector<Row>(1);
    std::vector<std::size_t> first_units_ = {0};  // of each row
};

Transcript::Transcript() : Transcript(Limits{}) {}

Transcript::Transcript(Limits limits) : limits_(limits) {}

Transcript::Id Transcript::append(Entry entry) {
    bytes_ += bytes_of(entry);
    entries_.push_back(std::move(entry));
    ++next_;
    trim();
    return next_ - 1;
}

bool Transcript::change(Id id, const std::function<void(Entry&)>& edit) {
    if (!find(id)) return false;
    bytes_ -= bytes_of(at(id));
    edit(at(id));
    bytes_ += bytes_of(at(id));
    trim();
    return true;
}

const Transcript::Entry* Transcript::find(Id id) const {
    return id >= first() && id < next_ ? &at(id) : nullptr;
}

void Transcript::show_hex(bool hex) {
    hex_ = hex;
    if (top_) top_->unit = 0;  // the units of an entry are others now
}

void Transcript::trim() {
    while (size() > 1 && (size() > limits_.entries || bytes_ > limits_.bytes)) {
        bytes_ -= bytes_of(entries_.front());
        entries_.pop_front();
    }
}

std::string_view Transcript::head(const Entry& entry) const {
    const std::string_view body = entry.body;
    if (body.size() <= limits_.head) return body;
    return body.substr(0, previous_cell(body, limits_.head + 1));
}

Transcript::Layout Transcript::lay_out(Id id) const {
    const auto& entry = at(id);
    const auto shown = head(entry);
    using Wrap = Layout::Wrap;
    Layout layout(width_);
    layout.put(entry.prefix, Wrap::anywhere);
    if (hex_ && entry.message) {
        layout.put_hex(shown, entry.style);
    } else {
        layout.put(shown, entry.style, needle_, entry.message ? Wrap::anywhere : Wrap::words);
    }
    if (shown.size() < entry.body.size())
        layout.put(glyph::ellipsis.text() + " " + std::to_string(entry.body.size()) + " bytes",
                   Style::dim, {}, Wrap::words);
    layout.put(entry.suffix, Wrap::words);
    return layout;
}

std::size_t Transcript::row_count(Id id) const { return lay_out(id).rows().size(); }

std::vector<Row> Transcript::rows(int width, int height) {
    width_ = static_cast<std::size_t>(std::max(width, 1));
    height_ = static_cast<std::size_t>(std::max(height, 0));
    std::vector<Row> seen;
    if (entries_.empty() || height_ == 0) return seen;
    auto [id, row] = top();
    for (; id < next_ && seen.size() < height_; ++id, row = 0) {
        auto layout = lay_out(id);
        for (; row < layout.rows().size() && seen.size() < height_; ++row) {
            seen.push_back(std::move(layout.rows()[row]));
            if (id == selected_) show_selected(seen.back(), width);
        }
        seen_ = id;
    }
    return seen;
}

std::size_t Transcript::below() const {
    if (entries_.empty()) return 0;
    return entries_.size() - 1 - index(std::clamp(seen_, first(), next_ - 1));
}

Transcript::Place Transcript::up(Place from, std::size_t rows) const {
    while (rows > from.row && from.id > first()) {
        rows -= from.row + 1;
        --from.id;
        from.row = row_count(from.id) - 1;
    }
    from.row -= std::min(rows, from.row);
    return from;
}

Transcript::Place Transcript::down(Place from, std::size_t rows) const {
    auto count = row_count(from.id);
    while (from.row + rows >= count && from.id + 1 < next_) {
        rows -= count - from.row;
        from = {from.id + 1, 0};
        count = row_count(from.id);
    }
    from.row = std::min(from.row + rows, count - 1);
    return from;
}

Transcript::Place Transcript::last() const { return {next_ - 1, row_count(next_ - 1) - 1}; }

Transcript::Place Transcript::top_of_tail() const {
    return up(last(), std::max<std::size_t>(height_, 1) - 1);
}

Transcript::Place Transcript::top() const {
    const auto tail = top_of_tail();
    if (!top_) return tail;
    if (top_->id < first()) return {first(), 0};
    return std::min(tail, {top_->id, lay_out(top_->id).row_of(top_->unit)});
}

void Transcript::hold_at(Place top) { top_ = {top.id, lay_out(top.id).first_unit(top.row)}; }

void Transcript::show(Place top) {
    if (top < top_of_tail())
        hold_at(top);
    else
        top_.reset();
}

void Transcript::scroll(int rows) {
    if (entries_.empty()) return;
    const auto count = static_cast<std::size_t>(std::abs(rows));
    show(rows < 0 ? up(top(), count) : down(top(), count));
}

void Transcript::scroll_pages(int pages) {
    // A row of the old page stays in sight.
    scroll(pages * static_cast<int>(std::max<std::size_t>(height_, 2) - 1));
}

void Transcript::scroll_to_start() {
    if (!entries_.empty()) show({first(), 0});
}

void Transcript::scroll_to_end() { top_.reset(); }

void Transcript::hold() {
    if (!entries_.empty()) hold_at(top());
}

void Transcript::select(Id id) {
    selected_ = id;
    const Place begin{id, 0};
    const auto lowest = up({id, row_count(id) - 1}, std::max<std::size_t>(height_, 1) - 1);
    hold_at(std::clamp(top(), std::min(lowest, begin), begin));
}

void Transcript::select_older() {
    if (entries_.empty()) return;
    const auto before = selected().value_or(next_);
    select(before > first() ? before - 1 : before);
}

void Transcript::select_newer() {
    if (const auto id = selected(); id && *id + 1 < next_) return select(*id + 1);
    select_none();
    scroll_to_end();
}

void Transcript::select_none() {
    selected_.reset();
    if (!entries_.empty()) show(top());
}

std::optional<Transcript::Id> Transcript::selected() const {
    return selected_ && *selected_ >= first() ? selected_ : std::nullopt;
}

bool Transcript::matches(Id id) const {
    return !needle_.empty() && head(at(id)).find(needle_) != std::string_view::npos;
}

bool Transcript::search(std::string text) {
    needle_ = std::move(text);
    return search_before(next_);
}

bool Transcript::search_older() { return search_before(selected().value_or(next_)); }

bool Transcript::search_before(Id end) {
    for (auto id = end; id-- > first();)
        if (select_match(id)) return true;
    return false;
}

bool Transcript::search_newer() {
    for (auto id = selected().value_or(next_) + 1; id < next_; ++id)
        if (select_match(id)) return true;
    return false;
}

bool Transcript::select_match(Id id) {
    const bool found = matches(id);
    if (found) select(id);
    return found;
}

}  // namespace ui
