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
    for (const Span& span : row) sum += span.text.size();
    return sum;
}

std::size_t bytes_of(const Transcript::Entry& entry) {
    return sizeof entry + entry.body.size() + bytes_of(entry.prefix) + bytes_of(entry.suffix);
}

// A mark for each byte of a text, or for each column of a row.
using Marks = std::vector<char>;
constexpr char bad_byte_mark = 2;  // stronger than 1, the mark of a match

char strongest(const Marks& marks, std::size_t begin, std::size_t end) {
    char mark = 0;
    for (std::size_t i = begin; i < std::min(end, marks.size()); ++i)
        mark = std::max(mark, marks[i]);
    return mark;
}

Style marked(Style style, char mark) {
    if (mark == bad_byte_mark) return Style::bad_byte;
    return mark != 0 ? Style::match : style;
}

void show_selected(Row& row, int width) {
    for (Span& span : row) {
        if (span.style == Style::normal || span.style == Style::dim)
            span.style = Style::selected;
    }
    pad(row, width, Style::selected);
}

}  // namespace

// One entry, split into rows. A unit is the smallest part that a row can begin with: a cell,
// or one character of an escape.
class Transcript::Layout {
public:
    explicit Layout(std::size_t width) : width_(width) {}

    // A row may end anywhere, or only between words.
    enum class Wrap { anywhere, words };

    void put(const Row& spans, Wrap wrap) {
        for (const Span& span : spans) put(span.text, span.style, {}, wrap);
    }

    // Indents the next rows to the current column if that leaves at least half of the width.
    void indent_next_rows() {
        if (rows_.size() == 1 && used_ * 2 <= width_) indent_ = used_;
    }

    void put(std::string_view bytes, Style style, const Marks& marks, Wrap wrap) {
        Cells cells(bytes);
        while (const std::optional<Cell> cell = cells.next()) {
            if (wrap == Wrap::words && wraps_at(bytes, cell->begin)) break_row();
            if (wrap == Wrap::words && used_ == width_ && cell->text == " ")
                ++units_;  // a blank between two rows is not shown
            else
                put(*cell, marked(style, strongest(marks, cell->begin, cell->end)));
            if (bytes[cell->end - 1] == '\n' && cell->end < bytes.size()) break_row();
        }
    }

    // Adds a hex dump, on rows of its own.
    void put_hex(std::string_view bytes, Style style, const Marks& marks) {
        indent_ = 0;
        for (const HexRow& row : hex_dump(bytes, static_cast<int>(width_))) {
            break_row();
            const Marks columns = marked_columns(row, marks);
            for (std::size_t i = 0; i < row.text.size(); ++i)
                put_unit({&row.text[i], 1}, 1, marked(style, columns[i]));
        }
    }

    // Returns the row of a unit; the last row if the unit no longer exists.
    std::size_t row_of(std::size_t unit) const {
        const auto after = std::upper_bound(first_units_.begin(), first_units_.end(), unit);
        return static_cast<std::size_t>(after - first_units_.begin()) - 1;
    }

    std::vector<Row>& rows() { return rows_; }
    std::size_t first_unit(std::size_t row) const { return first_units_[row]; }

private:
    // True if a word that begins at `at` needs a new row: it fits into a whole row, but not
    // into the rest of this one.
    bool wraps_at(std::string_view text, std::size_t at) const {
        if (at > 0 && text[at - 1] != ' ') return false;
        const std::string_view word = text.substr(at, text.find(' ', at) - at);
        const auto width = static_cast<std::size_t>(display_width(word));
        return used_ + width > width_ && width <= width_ - indent_;
    }

    void put(const Cell& cell, Style style) {
        const auto width = static_cast<std::size_t>(cell.width);
        if (cell.escaped) {
            if (style != Style::bad_byte) style = Style::escaped;
            for (const char c : cell.text) put_unit({&c, 1}, 1, style);
        } else if (width > width_ - indent_) {
            put_unit("?", 1, Style::escaped);
        } else {
            put_unit(cell.text, width, style);
        }
    }

    // Returns a mark for each column of a hex row. A blank between two numbers is marked only
    // if both bytes have the same mark.
    static Marks marked_columns(const HexRow& row, const Marks& marks) {
        Marks columns(row.text.size());
        for (std::size_t byte = row.begin; byte < std::min(row.end, marks.size()); ++byte) {
            if (marks[byte] == 0) continue;
            const bool joined =
                byte + 1 < row.end && strongest(marks, byte + 1, byte + 2) == marks[byte];
            for (std::size_t i = 0; i < (joined ? 3 : 2); ++i)
                columns[row.hex_column(byte) + i] = marks[byte];
            columns[row.text_column(byte)] = marks[byte];
        }
        return columns;
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
        ui::append(rows_.back(), std::string(indent_, ' '));
        used_ = indent_;
    }

    std::size_t width_;
    std::size_t indent_ = 0;  // columns before each row but the first
    std::size_t used_ = 0;    // columns of the last row
    std::size_t units_ = 0;
    std::vector<Row> rows_ = std::vector<Row>(1);
    std::vector<std::size_t> first_units_ = {0};  // the first unit of each row
};

Transcript::Id Transcript::append(Entry entry) {
    bytes_ += bytes_of(entry);
    entries_.push_back(std::move(entry));
    ++next_id_;
    trim();
    return next_id_ - 1;
}

bool Transcript::change(Id id, const std::function<void(Entry&)>& edit) {
    if (!find(id)) return false;
    bytes_ -= bytes_of(at(id));
    edit(at(id));
    bytes_ += bytes_of(at(id));
    return true;
}

const Transcript::Entry* Transcript::find(Id id) const {
    return id >= oldest() && id < next_id_ ? &at(id) : nullptr;
}

void Transcript::show_hex(bool hex) {
    hex_ = hex;
    if (top_) top_->unit = 0;  // its unit does not exist in the other form
}

void Transcript::trim() {
    while (size() > 1 && (size() > limits_.entries || bytes_ > limits_.bytes)) {
        // A window that does not follow the tail shows at most height_ entries.
        const bool shows_oldest = top_ && top_->id <= oldest();
        remove(shows_oldest ? std::min(std::max<std::size_t>(height_, 1), size() - 2) : 0);
    }
}

// The ids of the entries older than the removed one grow by one.
void Transcript::remove(std::size_t place) {
    const Id removed = oldest() + place;
    bytes_ -= bytes_of(entries_[place]);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(place));
    if (selected_ == removed) selected_.reset();
    if (selected_ && *selected_ < removed) ++*selected_;
    if (top_ && top_->id < removed) ++top_->id;
    if (last_shown_ < removed) ++last_shown_;
    on_removed_(place);
}

std::string_view Transcript::head(const Entry& entry) const {
    const std::string_view body = entry.body;
    if (body.size() <= limits_.head) return body;
    return body.substr(0, previous_cell(body, limits_.head + 1));
}

Transcript::Layout Transcript::lay_out(Id id) const {
    const Entry& entry = at(id);
    const std::string_view shown = head(entry);
    using Wrap = Layout::Wrap;
    Layout layout(width_);
    Marks marks = needle_.marks(shown);
    marks.resize(shown.size());
    if (entry.bad_byte && *entry.bad_byte < shown.size())
        marks[*entry.bad_byte] = bad_byte_mark;
    layout.put(entry.prefix, Wrap::anywhere);
    layout.indent_next_rows();
    if (hex_ && entry.message) {
        layout.put_hex(shown, entry.style, marks);
    } else {
        layout.put(shown, entry.style, marks, entry.message ? Wrap::anywhere : Wrap::words);
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
    for (; id < next_id_ && seen.size() < height_; ++id, row = 0) {
        Layout layout = lay_out(id);
        for (; row < layout.rows().size() && seen.size() < height_; ++row) {
            seen.push_back(std::move(layout.rows()[row]));
            if (id == selected_) show_selected(seen.back(), width);
        }
        last_shown_ = id;
    }
    return seen;
}

std::size_t Transcript::entries_below() const {
    if (entries_.empty()) return 0;
    return entries_.size() - 1 - index(std::clamp(last_shown_, oldest(), next_id_ - 1));
}

Transcript::Place Transcript::up(Place from, std::size_t rows) const {
    while (rows > from.row && from.id > oldest()) {
        rows -= from.row + 1;
        --from.id;
        from.row = row_count(from.id) - 1;
    }
    from.row -= std::min(rows, from.row);
    return from;
}

Transcript::Place Transcript::down(Place from, std::size_t rows) const {
    std::size_t count = row_count(from.id);
    while (from.row + rows >= count && from.id + 1 < next_id_) {
        rows -= count - from.row;
        from = {from.id + 1, 0};
        count = row_count(from.id);
    }
    from.row = std::min(from.row + rows, count - 1);
    return from;
}

Transcript::Place Transcript::top_of_tail() const {
    const Place last{next_id_ - 1, row_count(next_id_ - 1) - 1};
    return up(last, std::max<std::size_t>(height_, 1) - 1);
}

Transcript::Place Transcript::top() const {
    const Place tail = top_of_tail();
    if (!top_) return tail;
    if (top_->id < oldest()) return {oldest(), 0};
    return std::min(tail, {top_->id, lay_out(top_->id).row_of(top_->unit)});
}

void Transcript::freeze_at(Place top) { top_ = {top.id, lay_out(top.id).first_unit(top.row)}; }

void Transcript::show(Place top) {
    if (top < top_of_tail())
        freeze_at(top);
    else
        top_.reset();
}

void Transcript::scroll(int rows) {
    if (entries_.empty()) return;
    const auto count = static_cast<std::size_t>(std::abs(rows));
    show(rows < 0 ? up(top(), count) : down(top(), count));
}

void Transcript::scroll_pages(int pages) {
    // One row of the old page stays visible.
    scroll(pages * static_cast<int>(std::max<std::size_t>(height_, 2) - 1));
}

void Transcript::scroll_to_start() {
    if (!entries_.empty()) show({oldest(), 0});
}

void Transcript::toggle_freeze() {
    if (!following()) return scroll_to_end();
    if (!entries_.empty()) freeze_at(top());
}

void Transcript::select(Id id) {
    selected_ = id;
    const Place begin{id, 0};
    const Place lowest = up({id, row_count(id) - 1}, std::max<std::size_t>(height_, 1) - 1);
    freeze_at(std::clamp(top(), std::min(lowest, begin), begin));
}

void Transcript::select_older() {
    if (entries_.empty()) return;
    const Id before = selected().value_or(next_id_);
    select(before > oldest() ? before - 1 : before);
}

void Transcript::select_newer() {
    const std::optional<Id> id = selected();
    if (id && *id + 1 < next_id_) return select(*id + 1);
    select_none();
    scroll_to_end();
}

void Transcript::select_none() {
    selected_.reset();
    if (!entries_.empty()) show(top());
}

std::optional<Transcript::Id> Transcript::selected() const {
    return selected_ && *selected_ >= oldest() ? selected_ : std::nullopt;
}

bool Transcript::search(std::string text) {
    needle_ = Needle(std::move(text));
    return search_before(next_id_);
}

bool Transcript::search_before(Id end) {
    for (Id id = end; id > oldest(); --id) {
        if (select_match(id - 1)) return true;
    }
    return false;
}

bool Transcript::search_newer() {
    for (Id id = selected().value_or(next_id_) + 1; id < next_id_; ++id) {
        if (select_match(id)) return true;
    }
    return false;
}

bool Transcript::select_match(Id id) {
    const bool found = needle_.is_in(head(at(id)));
    if (found) select(id);
    return found;
}

}  // namespace ui
