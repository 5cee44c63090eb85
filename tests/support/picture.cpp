#include "tests/support/picture.hpp"

#include <algorithm>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>

namespace test {
namespace {

// Sizes in the drawing: a cell, a screen's margins and its title.
constexpr int cell_width = 9;
constexpr int cell_height = 19;
constexpr int baseline = 14;  // below the top of a cell
constexpr int margin = 14;
constexpr int title_height = 34;
constexpr int gap = 18;  // between screens

// Eight bar heights and the cell shades. They are drawn as areas, because in most fonts they
// show seams.
constexpr std::string_view bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view shades[] = {"░", "▒", "▓"};

constexpr std::string_view style_sheet = R"(
text{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:#d0d7de;white-space:pre}
path{fill:#d0d7de;shape-rendering:crispEdges}
.b{font-weight:bold}
.f{fill:#8b949e}
.u{text-decoration:underline}
.c1{fill:#ff7b72}
.c2{fill:#56d364}
.c3{fill:#e3b341}
.c54{fill:#5f0087}
.c80{fill:#5fd7d7}
.c114{fill:#87d787}
.c125{fill:#af005f}
.c208{fill:#ff8700}
.c210{fill:#ff8787}
.c221{fill:#ffd75f}
.c229{fill:#ffffaf}
.c252{fill:#d0d0d0}
path.g54{fill:#5f0087}
path.g125{fill:#af005f}
path.g208{fill:#ff8700}
path.g229{fill:#ffffaf}
path.g236{fill:#303030}
text.r{fill:#0d1117}
.a{fill-opacity:0}
.k{fill:#d0d7de;fill-opacity:.4}
.d{fill:#0d1117}
.s0{fill-opacity:.25}
.s1{fill-opacity:.5}
.s2{fill-opacity:.75}
.w{fill:#0d1117;stroke:#484f58}
.t{fill:#8b949e}
)";

bool is_ascii(const std::string& text) { return static_cast<unsigned char>(text[0]) < 0x80; }

std::string style_of(const Tty::Cell& cell) {
    std::string style;
    const auto add = [&style](bool has, const std::string& name) {
        if (has) style += (style.empty() ? "" : " ") + name;
    };
    add(cell.bold, "b");
    add(cell.faint, "f");
    add(cell.underlined, "u");
    add(cell.color >= 0, "c" + std::to_string(cell.color));
    add(cell.background >= 0, "g" + std::to_string(cell.background));
    add(cell.reverse, "r");
    return style;
}

bool has_style(const PictureRun& run, std::string_view name) {
    return (" " + run.style + " ").find(" " + std::string(name) + " ") != std::string::npos;
}

bool is_reverse(const PictureRun& run) { return has_style(run, "r"); }

// Returns the style with `more`, and without the parts that do not apply to an area.
std::string area_style(const std::string& style, const std::string& more) {
    std::string made = std::regex_replace(style, std::regex("\\b([bur]|g[0-9]+)\\b ?"), "");
    if (!made.empty() && made.back() != ' ') made += ' ';
    made += more;
    return made.substr(0, made.find_last_not_of(' ') + 1);
}

// Returns the class of the background: of a color, or of the foreground in a reverse run.
std::string background_style(const PictureRun& run) {
    std::smatch found;
    if (std::regex_search(run.style, found, std::regex("\\bg[0-9]+"))) return found.str();
    return is_reverse(run) ? area_style(run.style, "") : "";
}

bool has_background(const PictureRun& run) {
    return is_reverse(run) || run.style.find('g') != std::string::npos;
}

template <class Characters>
int index_in(const Characters& characters, std::string_view text) {
    const auto* const it = std::find(std::begin(characters), std::end(characters), text);
    return it == std::end(characters) ? -1 : static_cast<int>(it - std::begin(characters));
}

bool is_area(std::string_view text) {
    return index_in(bars, text) >= 0 || index_in(shades, text) >= 0;
}

std::vector<std::string_view> characters_of(const std::string& text) {
    std::vector<std::string_view> characters;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
            ++end;
        characters.push_back(std::string_view(text).substr(at, end - at));
        at = end;
    }
    return characters;
}

// Only characters of the same kind may share a run, because widths may differ between fonts.
enum class Kind { ascii, area, other };

Kind kind_of(const std::string& text) {
    if (is_ascii(text)) return Kind::ascii;
    return is_area(text) ? Kind::area : Kind::other;
}

Kind kind_of(const PictureRun& run) {
    return kind_of(std::string(characters_of(run.text).front()));
}

// Drops the blanks at the end of the last run, unless it is in reverse video.
void trim(std::vector<PictureRun>& row) {
    if (row.empty() || has_background(row.back())) return;
    PictureRun& last = row.back();
    const std::size_t size = last.text.find_last_not_of(' ') + 1;
    last.width -= static_cast<int>(last.text.size() - size);
    last.text.resize(size);
    if (size == 0) row.pop_back();
}

void add_cell(std::vector<PictureRun>& row, const Tty::Cell& cell, int column) {
    PictureRun run{column, cell.width, cell.text, style_of(cell)};
    const bool blank = cell.text == " " && !has_background(run);
    if (blank && (row.empty() || row.back().text.back() == ' ')) return trim(row);
    const bool joins = !row.empty() && row.back().column + row.back().width == column &&
                       row.back().style == run.style && kind_of(row.back()) == kind_of(run);
    if (joins) {
        row.back().text += run.text;
        row.back().width += run.width;
    } else if (!blank) {
        trim(row);
        row.push_back(std::move(run));
    }
}

// --- To SVG.

std::string escaped(const std::string& text) {
    std::string made;
    for (const char c : text) {
        if (c == '&')
            made += "&amp;";
        else if (c == '<')
            made += "&lt;";
        else if (c == '>')
            made += "&gt;";
        else if (c == '"')
            made += "&quot;";
        else
            made += c;
    }
    return made;
}

std::string attribute(const char* name, const std::string& value) {
    return std::string(" ") + name + "=\"" + value + '"';
}

std::string attribute(const char* name, int value) {
    return attribute(name, std::to_string(value));
}

std::string box(int x, int y, int width, int height) {
    std::ostringstream path;
    path << 'M' << x << ' ' << y << 'h' << width << 'v' << height << 'h' << -width << 'z';
    return path.str();
}

std::string path(const std::string& classes, const std::string& boxes) {
    const std::string name = classes.empty() ? "" : attribute("class", classes);
    return "<path" + name + attribute("d", boxes) + "/>";
}

// Returns the bars and shades of a run. In a reverse run the bars are dark, like letters.
std::string areas(const PictureRun& run, int y) {
    std::string made;
    std::string of_bars;
    int x = run.column * cell_width;
    const auto all = characters_of(run.text);
    for (std::size_t i = 0; i < all.size();) {
        std::size_t end = i;
        while (end < all.size() && all[end] == all[i]) ++end;
        const int width = static_cast<int>(end - i) * cell_width;
        const int bar = index_in(bars, all[i]);
        const int height = bar < 0 ? cell_height : cell_height * (bar + 1) / 8;
        const std::string drawn = box(x, y + cell_height - height, width, height);
        if (bar >= 0)
            of_bars += drawn;
        else
            made += path(area_style(run.style, "s" + std::to_string(index_in(shades, all[i]))),
                         drawn);
        x += width;
        i = end;
    }
    if (!of_bars.empty())
        made += path(area_style(run.style, is_reverse(run) ? "d" : ""), of_bars);
    return made;
}

std::string background(const PictureRun& run, int y) {
    return path(background_style(run),
                box(run.column * cell_width, y, run.width * cell_width, cell_height));
}

std::string text_of(const PictureRun& run, int y) {
    std::string style = run.style;
    if (kind_of(run) == Kind::area) style += style.empty() ? "a" : " a";
    return "<text" + (style.empty() ? "" : attribute("class", style)) +
           attribute("x", run.column * cell_width) + attribute("y", y + baseline) +
           attribute("textLength", run.width * cell_width) + ">" + escaped(run.text) +
           "</text>";
}

// Adjacent backgrounds of the same color are one area.
std::string row_svg(const std::vector<PictureRun>& row, int y) {
    std::string made;
    std::string texts;
    std::optional<PictureRun> behind;
    const auto flush = [&] {
        if (behind) made += background(*behind, y);
        behind.reset();
    };
    for (const PictureRun& run : row) {
        const bool same = behind && has_background(run) &&
                          behind->column + behind->width == run.column &&
                          background_style(*behind) == background_style(run);
        if (same)
            behind->width += run.width;
        else
            flush();
        if (!same && has_background(run)) behind = run;
        if (kind_of(run) == Kind::area) texts += areas(run, y);
        texts += text_of(run, y);
    }
    flush();
    return made + texts + (row.empty() ? "" : "\n");
}

int width_of(const Picture& picture) { return picture.size.columns * cell_width + 2 * margin; }
int height_of(const Picture& picture) {
    return picture.size.rows * cell_height + title_height + margin;
}

std::string window_svg(const Picture& picture) {
    std::ostringstream svg;
    const int width = width_of(picture);
    svg << "<rect class=\"w\" x=\"" << -margin << "\" y=\"" << -title_height << "\" width=\""
        << width << "\" height=\"" << height_of(picture) << "\" rx=\"8\"/>\n";
    int x = 2;
    for (const char* color : {"#ff7b72", "#e3b341", "#56d364"}) {
        svg << "<circle cx=\"" << x << "\" cy=\"-17\" r=\"5\" fill=\"" << color << "\"/>";
        x += 17;
    }
    svg << "\n<text class=\"t\" x=\"" << 6 * cell_width << "\" y=\"-12\">"
        << escaped(picture.title) << "</text>\n";
    return svg.str();
}

std::string picture_svg(const Picture& picture, double x, double y, double scale) {
    std::ostringstream svg;
    svg << "<g transform=\"translate(" << x << ' ' << y << ") scale(" << scale << ") translate("
        << margin << ' ' << title_height << ")\" data-size=\"" << picture.size.columns << 'x'
        << picture.size.rows << "\">\n"
        << window_svg(picture);
    if (const auto cursor = picture.cursor)
        svg << "<rect class=\"k\"" << attribute("x", cursor->column * cell_width)
            << attribute("y", cursor->row * cell_height) << attribute("width", cell_width)
            << attribute("height", cell_height) << "/>\n";
    int row_y = 0;
    for (const auto& row : picture.rows) {
        svg << row_svg(row, row_y);
        row_y += cell_height;
    }
    svg << "</g>\n";
    return svg.str();
}

// --- From SVG, without random parts.

using Row = std::vector<PictureRun>;

PictureRun run_from(const std::smatch& match) {
    PictureRun run{std::stoi(match[2]), std::stoi(match[4]), match[5], match[1]};
    if (kind_of(run) == Kind::area)
        run.style = run.style.substr(0, run.style.find_last_of("a"));
    run.style.resize(run.style.find_last_not_of(' ') + 1);
    return run;
}

std::vector<Row> rows_from(const std::string& group) {
    static const std::regex pattern(
        "<text(?: class=\"([^\"]*)\")? x=\"([0-9]+)\" y=\"([0-9]+)\" "
        "textLength=\"([0-9]+)\">([^<]+)<");
    std::vector<Row> rows;
    std::string y;
    for (std::sregex_iterator it(group.begin(), group.end(), pattern), end; it != end; ++it) {
        if (y != (*it)[3]) rows.emplace_back();
        y = (*it)[3];
        rows.back().push_back(run_from(*it));
    }
    return rows;
}

std::string replaced(std::string text) {
    static const std::pair<std::regex, const char*> rules[] = {
        {std::regex("[0-9]+(\\.[0-9]+)?"), "0"},
        {std::regex("\\b0(us|ms|m|h)\\b"), "0s"},
        {std::regex("0 (us|ms|s)\\b"), "0 s"},
        {std::regex("0[kM]/s"), "0/s"},
        {std::regex("(█)+ 0$"), "0"},
        {std::regex("(▁|▂|▃|▄|▅|▆|▇|█)+"), "▇"},
        {std::regex(" +"), " "},
    };
    for (const auto& [pattern, with] : rules) text = std::regex_replace(text, pattern, with);
    return text;
}

// Joins adjacent runs of the same style, and the blanks between them.
Row joined(const Row& row) {
    Row made;
    for (const PictureRun& run : row) {
        if (made.empty() || made.back().style != run.style) {
            made.push_back(run);
            continue;
        }
        PictureRun& last = made.back();
        if (last.column + last.width < run.column) last.text += ' ';
        last.text += run.text;
        last.width = run.column + run.width - last.column;
    }
    return made;
}

// Omits the cells of the heat map.
std::string without_chance(const Row& row) {
    static const std::regex map_row("(\\{[^}]*\\}) ?0 ?│((\\{[^}]*\\})?[░▒▓█▇ ])*");
    static const std::regex axis("(│0s ?)+");
    std::string text;
    for (const PictureRun& run : joined(row))
        text += '{' + run.style + '}' + replaced(run.text);
    text = std::regex_replace(text, axis, "│0s");
    return std::regex_replace(text, map_row, "$1 0 │");
}

}  // namespace

Picture picture_of(const Tty& tty, const std::string& title) {
    Picture picture{.title = title, .size = tty.size(), .cursor = {}, .rows = {}};
    if (tty.cursor_shown()) picture.cursor = {tty.cursor_row(), tty.cursor_column()};
    for (int at = 0; at < picture.size.rows; ++at) {
        std::vector<PictureRun> row;
        for (int column = 0; column < picture.size.columns;) {
            const Tty::Cell cell = tty.cell(at, column);
            add_cell(row, cell, column);
            column += cell.width;
        }
        trim(row);
        picture.rows.push_back(std::move(row));
    }
    return picture;
}

std::string to_svg(const std::vector<Picture>& pictures) {
    const int width = width_of(pictures.front());
    int below = 0;
    for (std::size_t i = 1; i < pictures.size(); ++i) below += width_of(pictures[i]);
    const auto gaps = static_cast<int>(pictures.size() - 2) * gap;
    const double scale = below == 0 ? 1 : static_cast<double>(width - gaps) / below;
    std::string groups = picture_svg(pictures.front(), 0, 0, 1);
    const int top = height_of(pictures.front()) + gap;
    double x = 0;
    double bottom = 0;
    for (std::size_t i = 1; i < pictures.size(); ++i) {
        groups += picture_svg(pictures[i], x, top, scale);
        x += width_of(pictures[i]) * scale + gap;
        bottom = std::max(bottom, height_of(pictures[i]) * scale);
    }
    std::ostringstream svg;
    svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"-1 -1 "
        << width + 2 << ' ' << top + bottom + 2 << "\">\n<style>" << style_sheet << "</style>\n"
        << groups << "</svg>\n";
    return svg.str();
}

std::vector<std::string> without_chance(const std::string& svg) {
    std::vector<std::string> pictures;
    for (auto at = svg.find("<g "); at != svg.npos; at = svg.find("<g ", at + 1)) {
        const std::string group = svg.substr(at, svg.find("</g>", at) - at);
        const std::size_t title = group.find('>', group.find("class=\"t\"")) + 1;
        std::string& made = pictures.emplace_back(
            replaced(group.substr(title, group.find('<', title) - title)) + '\n');
        std::string last;
        for (const Row& row : rows_from(group)) {
            std::string text = without_chance(row);
            if (text.ends_with("│") || text == last) continue;
            made += text + '\n';
            last = std::move(text);
        }
    }
    return pictures;
}

}  // namespace test
