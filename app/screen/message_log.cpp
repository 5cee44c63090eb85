#include "app/screen/message_log.hpp"

#include "app/text/units.hpp"
#include "ui/glyphs.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

using ui::Style;

namespace {

// The signs of the entries on the screen and in the file, in the order of Kind.
constexpr struct {
    ui::Glyph sign;
    Style style;
    char mark;
} labels[] = {{ui::glyph::note, Style::dim, '-'},
              {ui::glyph::sent, Style::dim, '>'},
              {ui::glyph::received, Style::dim, '<'},
              {ui::glyph::lost, Style::bad, '-'},
              {ui::glyph::unsolicited, Style::warn, '<'}};

// Returns "+1.234s", or whole seconds if there are a thousand or more.
std::string delta_text(ev::Duration duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    return format(seconds < 1000 ? "+%.3fs" : "+%.0fs", seconds);
}

std::string difference_text(const Exchange& exchange) {
    const std::string text =
        " " + ui::glyph::bad.text() + " " + differs_text(exchange.difference);
    if (!exchange.difference) return text;
    return text + ": " + byte_text(exchange.payload, *exchange.difference) +
           ui::glyph::arrow.text() + byte_text(exchange.reply, *exchange.difference);
}

// Returns the bytes as "68 65 6c 6c 6f", on one line.
std::string hex_numbers(std::string_view bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        text += (i == 0 ? "" : " ") + byte_text(bytes, i);
    return text;
}

}  // namespace

void MessageLog::add_note(WallTime at, std::string_view text, Style style) {
    add({Kind::note, at, {}, nullptr}, text, {}, style);
}

void MessageLog::add_sent(WallTime at, std::uint64_t id, std::string_view payload) {
    auto exchange = std::make_shared<Exchange>(
        Exchange{.id = id, .payload = std::string(payload), .sent_at = at});
    unanswered_[id] = exchange;
    add({Kind::sent, at, {}, std::move(exchange)}, payload);
}

// Returns the stored exchange of an unanswered message, or a new one.
std::shared_ptr<Exchange> MessageLog::exchange_of(const Message& message) const {
    const auto found = unanswered_.find(message.id);
    const auto exchange =
        found == unanswered_.end() ? std::make_shared<Exchange>() : found->second;
    exchange->id = message.id;
    exchange->payload = message.payload;
    return exchange;
}

void MessageLog::add_answer(WallTime at, const Message& message, const Reply& reply,
                            std::optional<ev::Duration> network) {
    const auto exchange = exchange_of(message);
    unanswered_.erase(message.id);
    exchange->reply = reply.payload;
    exchange->answered_at = at;
    exchange->right = reply.right;
    exchange->late = message.late;
    exchange->difference = reply.difference;
    exchange->round_trip = reply.round_trip;
    exchange->write_delay = message.sent - message.planned;
    exchange->network_round_trip = network;
    ui::Row fate;
    if (!reply.right) fate.push_back({difference_text(*exchange), Style::bad});
    if (reply.right && replies_checked_ && message.id > 0)
        fate.push_back({" " + ui::glyph::right.text(), Style::good});
    add({Kind::received, at, {}, exchange}, reply.payload, std::move(fate));
}

void MessageLog::add_loss(WallTime at, const Message& message, const std::string& why) {
    ui::Row fate{{" - " + why, Style::bad}};
    add({Kind::lost, at, {}, exchange_of(message)}, message.payload, std::move(fate),
        Style::dim);
}

void MessageLog::add_unsolicited(WallTime at, std::string_view payload) {
    auto exchange =
        std::make_shared<Exchange>(Exchange{.reply = std::string(payload), .answered_at = at});
    add({Kind::unsolicited, at, {}, std::move(exchange)}, payload);
}

void MessageLog::add_duplicate(WallTime at, std::string_view payload) {
    add({Kind::unsolicited, at, {}, nullptr}, payload, {{" - a duplicate reply", Style::warn}});
}

void MessageLog::next_timestamp_style() {
    using enum TimestampStyle;
    timestamp_style_ = timestamp_style_ == clock   ? delta
                       : timestamp_style_ == delta ? off
                                                   : clock;
    ui::Transcript::Id id = transcript_.oldest();
    for (const Record& record : records_)
        transcript_.change(id++, [&](auto& entry) { entry.prefix = {label(record)}; });
}

std::shared_ptr<const Exchange> MessageLog::selected() const {
    const auto id = transcript_.selected();
    if (!id) return nullptr;
    return records_[static_cast<std::size_t>(*id - transcript_.oldest())].exchange;
}

std::optional<std::string> MessageLog::selected_text(std::size_t max_bytes) const {
    const auto id = transcript_.selected();
    if (!id) return std::nullopt;
    const ui::Transcript::Entry& entry = *transcript_.find(*id);
    const std::string body = entry.body.substr(0, max_bytes);
    return transcript_.hex() && entry.message ? hex_numbers(body) : body;
}

void MessageLog::add(Record record, std::string_view body, ui::Row suffix, Style style) {
    record.since_last =
        last_record_at_ == WallTime{} ? ev::Duration::zero() : record.at - last_record_at_;
    last_record_at_ = record.at;
    ui::Transcript::Entry entry{{label(record)},
                                std::string(body),
                                std::move(suffix),
                                style,
                                record.kind != Kind::note};
    if (record.kind == Kind::received) entry.bad_byte = record.exchange->difference;
    if (write_line_) write(record, entry);
    records_.push_back(std::move(record));
    transcript_.append(std::move(entry));
}

// Removes the record of an entry that the transcript has removed.
void MessageLog::remove_record(std::size_t place) {
    const auto gone = records_.begin() + static_cast<std::ptrdiff_t>(place);
    if (gone->kind == Kind::sent) unanswered_.erase(gone->exchange->id);
    records_.erase(gone);
}

// Returns the time, or a reply's round trip, and the sign for the kind of entry.
ui::Span MessageLog::label(const Record& record) const {
    const auto& kind = labels[static_cast<std::size_t>(record.kind)];
    const std::string time = time_text(record);
    return {time + (time.empty() ? "" : " ") + kind.sign.text() + " ", kind.style};
}

// Returns "0.34ms", "+123.456s" or a clock.
std::string MessageLog::time_text(const Record& record) const {
    const bool off = timestamp_style_ == TimestampStyle::off;
    const bool delta = timestamp_style_ == TimestampStyle::delta;
    int width = delta ? 8 : 12;
    if (off) width = 0;
    const auto padded = [width](const std::string& text) {
        return format("%*s", width, text.c_str());
    };
    if (record.kind == Kind::received) {
        const Exchange& exchange = *record.exchange;
        if (exchange.round_trip)
            return padded(milliseconds_number(*exchange.round_trip) + "ms");
        if (exchange.id != 0) return padded("untimed");
    }
    if (off) return "";
    if (delta) return padded(delta_text(record.since_last));
    const bool timed = record.kind != Kind::lost && record.kind != Kind::unsolicited;
    return padded(timed ? clock_text(record.at) : "");
}

// A reply's fate has a line of its own, unless the reply is right.
void MessageLog::write(const Record& record, const ui::Transcript::Entry& entry) {
    const std::string remark = ui::plain_text(entry.suffix);
    const bool reply = record.kind == Kind::received;
    write_line_(record.at, labels[static_cast<std::size_t>(record.kind)].mark,
                reply ? entry.body : entry.body + remark);
    if (reply && !record.exchange->right)
        write_line_(record.at, '-', "message " + std::to_string(record.exchange->id) + remark);
}

}  // namespace yodel
