#include "app/screen/transcript.hpp"

#include "app/protocol/resp.hpp"
#include "app/screen/signs.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

using ui::Style;
using Wrap = ui::Layout::Wrap;

namespace {

// The estimated overhead of the system's allocator for an entry and its bytes.
constexpr std::size_t allocation_overhead = 64;

std::size_t bytes_of(const Transcript::Entry& entry) {
    return sizeof entry - sizeof entry.event + entry.event.size() + allocation_overhead;
}

enum class Kind { note, sent, received, lost, unsolicited };

// The signs of the entries, in the order of Kind.
constexpr struct {
    Glyph sign;
    Style style;
} labels[] = {{glyph::note, Style::dim},
              {glyph::sent, Style::dim},
              {glyph::received, Style::dim},
              {glyph::lost, Style::bad},
              {glyph::unsolicited, Style::warn}};

// When listening, the client's messages are unsolicited. ScreenClient::show() marks them right,
// so that they are shown as received.
Kind kind_of(const Event& event) {
    if (event.fate == Fate::note) return Kind::note;
    if (event.fate == Fate::sent) return Kind::sent;
    if (!has_reply(event.fate) || event.fate == Fate::missing) return Kind::lost;
    return has_message(event.fate) || event.reply.is_right ? Kind::received : Kind::unsolicited;
}

std::string_view body_of(const Event& event) {
    return has_reply(event.fate) ? event.reply.payload : event.message.payload;
}

// Returns the beginning of the body: the part that is shown and searched.
std::string_view head_of(const Event& event, std::size_t size) {
    const std::string_view body = body_of(event);
    if (body.size() <= size) return body;
    return body.substr(0, ui::previous_cell(body, size + 1));
}

std::string difference_text(const Message& message, const Reply& reply) {
    const std::string text = " " + glyph::bad.text() + " " + differs_text(reply.difference);
    if (!reply.difference) return text;
    const std::size_t at = *reply.difference;
    const auto is_visible = [at](std::string_view bytes) {
        return at < bytes.size() && bytes[at] > ' ' && bytes[at] <= '~';
    };
    const bool is_readable = is_visible(message.payload) && is_visible(reply.payload);
    const auto shown = [at, is_readable](std::string_view bytes) {
        return is_readable ? std::string(1, bytes[at]) : byte_text(bytes, at);
    };
    return text + ": " + shown(message.payload) + glyph::arrow.text() + shown(reply.payload);
}

// Returns a reply as redis-cli shows it. Returns none if the reply is long, has a bad byte, or
// is not exactly one Redis value. Such a reply is shown as bytes.
std::optional<std::string> readable_resp(const Event& event) {
    constexpr std::size_t max_bytes = 16 * 1024;
    const std::string_view payload = event.reply.payload;
    const Kind kind = kind_of(event);
    if (kind != Kind::received && kind != Kind::unsolicited) return std::nullopt;
    if (payload.size() > max_bytes || event.reply.difference) return std::nullopt;
    return resp_text(std::string(payload) + "\r\n");
}

// Returns the text after the body.
ui::Row suffix_of(const Event& event, bool is_checked) {
    const Reply& reply = event.reply;
    if (event.fate == Fate::duplicate) return {{" - a duplicate reply", Style::warn}};
    if (event.fate == Fate::unanswered_as_recorded)
        return {{" - no reply, as recorded", Style::bad}};
    if (event.fate == Fate::unsent) return {{" - not sent", Style::bad}};
    if (event.fate == Fate::missing) return {{" - did not arrive", Style::bad}};
    if (!has_message(event.fate) || event.fate == Fate::sent) return {};
    if (!has_reply(event.fate))
        return {{" - no reply" + std::string(reply.payload), Style::bad}};
    if (!reply.is_right) return {{difference_text(event.message, reply), Style::bad}};
    if (!is_checked) return {};
    return {{" " + glyph::right.text(), Style::good}};
}

void show_selected(ui::Row& row, int width) {
    for (ui::Span& span : row)
        if (span.style != Style::escaped && span.style != Style::match &&
            span.style != Style::bad_byte)
            span.style = Style::selected;
    ui::pad(row, width, Style::selected);
}

}  // namespace

void Transcript::append(Entry entry) {
    byte_count_ += bytes_of(entry);
    entries_.push_back(std::move(entry));
    while (entries_.size() > 1 &&
           (entries_.size() > limits_.entries || byte_count_ > limits_.bytes)) {
        // If the window shows the oldest entry, removes the first entry that it cannot show.
        const bool is_oldest_shown = top_ && top_->index == 0;
        const auto height = static_cast<std::size_t>(height_);
        const std::size_t removed = is_oldest_shown ? std::min(height, entries_.size() - 2) : 0;
        byte_count_ -= bytes_of(entries_[removed]);
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(removed));
        if (selected_index_ == removed) selected_index_.reset();
        if (selected_index_ && *selected_index_ > removed) --*selected_index_;
        if (top_ && top_->index == removed) top_->unit = 0;
        if (top_ && top_->index > removed) --top_->index;
    }
}

// Compares the planned times too, because messages of the recording and of the session may have
// the same ids.
const Transcript::Entry* Transcript::answer_to(const Message& message) const {
    for (const Entry& entry : entries_) {
        const Event& event = *entry.event;
        const bool is_same = has_message(event.fate) && event.message.id == message.id;
        if (!is_same || event.message.planned_at < message.planned_at) continue;
        if (has_reply(event.fate)) return &entry;
        if (event.fate == Fate::sent && event.message.planned_at > message.planned_at) break;
    }
    return nullptr;
}

void Transcript::show_hex(bool is_hex) {
    is_hex_ = is_hex;
    if (top_) top_->unit = 0;  // the layouts of text and hex have different units
}

void Transcript::cycle_timestamps() {
    using enum Timestamps;
    timestamps_ = timestamps_ == clock ? delta : timestamps_ == delta ? off : clock;
}

// Returns the time, or a reply's round trip, and the sign for the kind of entry. The time is
// "0.34ms", "untimed", "+123.456s", "+1234s" (whole seconds from 1000 on), a clock, or empty.
ui::Span Transcript::label(std::size_t index) const {
    using enum Timestamps;
    const Event& event = *entries_[index].event;
    const Kind kind = kind_of(event);
    const auto& [sign, style] = labels[static_cast<std::size_t>(kind)];
    std::string time;
    if (kind == Kind::received && event.reply.round_trip) {
        time = milliseconds_number(*event.reply.round_trip) + "ms";
    } else if (kind == Kind::received && event.message.id != 0) {
        time = "untimed";
    } else if (timestamps_ == delta) {
        const std::chrono::duration<double> since =
            entries_[index].at - entries_[index - std::min<std::size_t>(index, 1)].at;
        time = format(since.count() < 1000 ? "+%.3fs" : "+%.0fs", since.count());
    } else if (timestamps_ == clock && kind != Kind::lost) {
        time = clock_text(entries_[index].at);
    }
    const int width = timestamps_ == off ? 0 : timestamps_ == delta ? 8 : 12;
    time = format("%*s", width, time.c_str());
    return {time + (time.empty() ? "" : " ") + sign.text() + " ", style};
}

ui::Layout Transcript::lay_out(std::size_t index) const {
    const Event& event = *entries_[index].event;
    const Kind kind = kind_of(event);
    const std::string_view body = body_of(event);
    const auto decoded = is_resp_ && !is_hex_ ? readable_resp(event) : std::nullopt;
    const std::string_view shown = decoded ? *decoded : head_of(event, limits_.head);
    Style style = kind == Kind::note ? entries_[index].style : Style::normal;
    if (kind == Kind::lost) style = Style::dim;
    if (decoded && (body[0] == '-' || body[0] == '!')) style = Style::bad;
    ui::Marks marks = needle_.marks(shown);
    marks.resize(shown.size());
    const std::size_t bad_byte = event.reply.difference.value_or(shown.size());
    if (kind == Kind::received && bad_byte < shown.size()) marks[bad_byte] = ui::bad_byte_mark;
    const auto width = static_cast<std::size_t>(width_);
    ui::Layout layout(width);
    layout.put({label(index)}, Wrap::anywhere);
    if (layout.rows().size() == 1 && layout.last_width() * 2 <= width)
        layout.indent_next_rows();
    if (is_hex_ && kind != Kind::note)
        layout.put_hex(shown, style, marks);
    else
        layout.put(shown, style, marks,
                   kind == Kind::note ? Wrap::words
                   : decoded          ? Wrap::lines
                                      : Wrap::anywhere);
    if (!decoded && shown.size() < body.size())
        layout.put({{glyph::ellipsis.text() + " " + bytes_text(body.size()), Style::dim}},
                   Wrap::words);
    layout.put(suffix_of(event, is_checking_), Wrap::words);
    return layout;
}

std::vector<ui::Row> Transcript::rows(int width, int height) {
    width_ = std::max(width, 1);
    height_ = std::max(height, 1);
    std::vector<ui::Row> seen;
    if (entries_.empty() || height <= 0) return seen;
    const auto count = static_cast<std::size_t>(height);
    const Place first = top();
    auto row = static_cast<std::size_t>(first.row);
    for (std::size_t i = first.index; i < entries_.size() && seen.size() < count;
         ++i, row = 0) {
        ui::Layout layout = lay_out(i);
        for (; row < layout.rows().size() && seen.size() < count; ++row) {
            seen.push_back(std::move(layout.rows()[row]));
            if (i == selected_index_) show_selected(seen.back(), width);
        }
    }
    return seen;
}

std::size_t Transcript::entries_below() const {
    if (entries_.empty()) return 0;
    return entries_.size() - 1 - moved(top(), height_ - 1).index;
}

Transcript::Place Transcript::moved(Place from, int rows) const {
    rows += from.row;  // now from the first row of the entry
    const auto row_count = [this](std::size_t index) {
        return static_cast<int>(lay_out(index).rows().size());
    };
    while (rows < 0 && from.index > 0) rows += row_count(--from.index);
    while (from.index + 1 < entries_.size()) {
        const int count = row_count(from.index);
        if (rows < count) break;
        rows -= count;
        ++from.index;
    }
    return {from.index, std::max(rows, 0)};
}

Transcript::Place Transcript::top() const {
    if (!top_) return top_of_tail();
    const std::size_t row = lay_out(top_->index).row_of(top_->unit);
    return std::min(top_of_tail(), {top_->index, static_cast<int>(row)});
}

// Shows this place at the top. Follows the tail again if `may_follow` is true and the tail is
// visible.
void Transcript::show(Place top, bool may_follow) {
    if (may_follow && top >= top_of_tail()) return top_.reset();
    top_ = {top.index, lay_out(top.index).first_unit(static_cast<std::size_t>(top.row))};
}

// One row of the old page stays visible.
void Transcript::scroll(int pages) {
    if (!entries_.empty()) show(moved(top(), pages * (std::max(height_, 2) - 1)));
}

void Transcript::scroll_to_start() {
    if (!entries_.empty()) show({0, 0});
}

void Transcript::toggle_freeze() {
    if (!is_following()) return scroll_to_end();
    if (!entries_.empty()) show(top(), false);
}

void Transcript::select(std::size_t index) {
    selected_index_ = index;
    const Place begin{index, 0};
    const Place lowest = moved({index + 1, 0}, -height_);
    show(std::clamp(top(), std::min(lowest, begin), begin), false);
}

void Transcript::select_older() {
    if (entries_.empty()) return;
    if (!selected_index_) return select(moved(top(), std::max(height_, 1) - 1).index);
    select(std::max<std::size_t>(*selected_index_, 1) - 1);
}

void Transcript::select_newer() {
    if (selected_index_ && *selected_index_ + 1 < entries_.size())
        return select(*selected_index_ + 1);
    select_none();
    scroll_to_end();
}

void Transcript::select_none() {
    selected_index_.reset();
    if (!entries_.empty()) show(top());
}

std::string Transcript::text_of(const Event& event, std::size_t max_bytes) const {
    const std::string_view body = body_of(event).substr(0, max_bytes);
    if (!is_hex_ || event.fate == Fate::note) return std::string(body);
    std::string numbers;
    for (std::size_t i = 0; i < body.size(); ++i)
        numbers += (i == 0 ? "" : " ") + byte_text(body, i);
    return numbers;
}

bool Transcript::search(std::string text) {
    needle_ = ui::Needle(std::move(text));
    return select_match(entries_.size(), -1);
}

// Selects the first match after an entry, in this direction, if there is one.
bool Transcript::select_match(std::size_t from, int step) {
    const auto next = static_cast<std::size_t>(step);  // -1 wraps around
    for (std::size_t i = from + next; i < entries_.size(); i += next) {
        if (!needle_.is_in(head_of(*entries_[i].event, limits_.head))) continue;
        select(i);
        return true;
    }
    return false;
}

}  // namespace yodel
