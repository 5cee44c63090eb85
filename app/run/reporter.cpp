#include "app/run/reporter.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/json.hpp"
#include "app/text/units.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace yodel {

namespace {

constexpr int dump_width = 80;
constexpr std::size_t max_remarks = 1000;  // lines about connections

// Returns a line such as "64 bytes, seq 1, 0.21 ms". Returns an empty text for an event without
// a message, except a duplicate reply.
std::string sequence_line(const Event& event) {
    const Message& message = event.message;
    const Reply& reply = event.reply;
    const std::string seq_text = ", seq " + std::to_string(message.id);
    if (event.fate == Fate::unsent) return "not sent" + seq_text;
    if (event.fate == Fate::duplicate) return bytes_text(reply.payload.size()) + ", duplicate";
    if (!has_message(event.fate)) return "";
    if (!has_reply(event.fate)) return "no reply" + seq_text;
    std::string text = bytes_text(reply.payload.size()) + seq_text;
    if (reply.round_trip) text += ", " + milliseconds_text(*reply.round_trip);
    if (!reply.is_right) text += ", " + bad_text(reply);
    if (reply.is_reordered) text += ", reordered";
    if (message.is_late) text += ", late";
    return text;
}

// Returns the number of bytes of an incomplete UTF-8 character at the end, often 0.
std::size_t partial_character_size(std::string_view bytes) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
        const std::size_t size = ui::encoded_size(bytes[bytes.size() - back]);
        if (size > 0) return size > back ? back : 0;
    }
    return 0;
}

std::string hex_lines(const char* indent, std::string_view bytes, std::size_t begin = 0,
                      std::size_t end = std::string_view::npos) {
    std::string lines;
    for (const ui::HexRow& row : ui::hex_dump(bytes, dump_width, begin, end))
        lines += indent + row.text + "\n";
    return lines;
}

// Maximum number of payload bytes shown around a difference, and the number shown before it.
constexpr std::size_t part_size = 256;
constexpr std::size_t part_size_before = 64;

std::string phases_text(const Session& session) {
    const Session::Phases& phases = session.phases();
    std::string text = "look-up " + milliseconds_number(phases.lookup) + ", connect " +
                       milliseconds_number(phases.tcp);
    if (phases.handshake)
        text +=
            ", " + session.options().handshake() + " " + milliseconds_number(*phases.handshake);
    return text + " ms";
}

std::string connection_text(const Session& session) {
    if (session.options().listens()) return "connection from " + session.address().text();
    std::string text = "connected to " + session.address().text() + "; " + phases_text(session);
    const bufio::TlsFacts* const tls = session.tls();
    if (!tls) return text;
    text += "; " + tls->version + " " + tls->cipher +
            (tls->group.empty() ? "" : " " + tls->group) + ", " + tls->subject + " until " +
            tls->not_after + ", " + tls->pin;
    return tls->faults_text.empty() ? text
                                    : text + ", UNVERIFIED: " + certificate_faults_text(*tls);
}

}  // namespace

bool prints_recording(const Reporter::Options& options, const RunOptions& run) {
    return options.form == Reporter::Form::json && !options.is_load && !run.is_probe &&
           run.session.framing->has_frames();
}

Reporter::Reporter(ev::Loop& loop, Options options, const RunOptions& run)
    : options_(std::move(options)),
      run_(run),
      makes_printable_(::isatty(STDOUT_FILENO) == 1),
      output_(loop, STDOUT_FILENO, [] {}),
      started_at_(loop.now()) {
    if (!options_.log.empty()) journal_.emplace(options_.log, run.session, 1, started_at_);
    if (prints_recording(options_, run) && !options_.is_quiet)
        output_.append_line(
            recording_object(run.session, 1, run.connections, std::chrono::system_clock::now())
                .str());
}

// --- Connections.

void Reporter::lane_opened(std::size_t connection_number, const Session& session) {
    const std::string text = connection_text(session);
    if (journal_) journal_->add_event({.reply = {.payload = text}});
    if (journal_) journal_->add_connection(session);
    report_attempt("connected to " + session.address().text() + ", " + phases_text(session));
    if (prints_json() && reports_messages() && !options_.is_quiet)
        output_.append_line(
            connection_object(session, is_load() ? connection_number : attempt_count_).str());
    if (options_.is_verbose || (is_probe() && !options_.is_quiet))
        print_remark(connection_number, text);
    for (const std::string& each : session.opening_notes())
        if (options_.is_verbose) print_remark(connection_number, each);
}

void Reporter::lane_ended(std::size_t connection_number, const Session& session,
                          bool was_open) {
    const bool is_retrying = session.state() == Session::State::waiting;
    const bufio::Reason reason = session.end().reason;
    const bool is_refused =
        reason == bufio::Reason::certificate || reason == bufio::Reason::pin;
    if (is_refused && session.tls()) refused_certificate_ = *session.tls();
    std::string text = end_text(session);
    if (!was_open || exit_status(session.end()) != success) report_attempt(text, !was_open);
    if (is_retrying)
        text += "; retry in " + duration_text(session.retry_at() - session.state_began_at());
    if (journal_) journal_->add_event({.reply = {.payload = text}});
    const bool is_shown = is_load() ? options_.is_verbose : is_retrying && !options_.is_quiet;
    if (is_shown || (options_.is_verbose && is_retrying)) print_remark(connection_number, text);
}

// In a repeated probe, counts a new attempt, and prints its result as ping prints a reply.
void Reporter::report_attempt(const std::string& text, bool is_new) {
    if (!run_.probe_interval) return;
    if (is_new) ++attempt_count_;
    if (prints_sequence())
        output_.append_line("seq " + std::to_string(attempt_count_) + ": " + text);
}

void Reporter::print_remark(std::size_t connection_number, const std::string& text) {
    if (remark_count_ > max_remarks || !options_.has_remarks) return;
    if (is_load()) ++remark_count_;
    const std::string prefix =
        is_load() ? "connection " + std::to_string(connection_number) + ": " : "";
    print_error(remark_count_ <= max_remarks ? prefix + text
                                             : "only the first " + std::to_string(max_remarks) +
                                                   " lines about connections are printed");
}

// --- Messages.

void Reporter::lane_event(const Event& event) {
    if (event.fate == Fate::sent) return on_sent(event);
    // Bytes without frames are logged as they are read.
    const bool is_logged =
        is_unframed() == (event.fate == Fate::read) || !has_reply(event.fate);
    if (journal_ && is_logged && event.frames.empty()) journal_->add_event(event);
    if (event.fate == Fate::read) return print_reply(event);
    if (!event.frames.empty()) {  // print echoed lines without decoding them
        const bool is_unterminated = event.message.id + event.count - 1 == unterminated_id_;
        return output_.write(
            event.frames.substr(0, event.frames.size() - (is_unterminated ? 1 : 0)));
    }
    add_object(event);
    if (prints_sequence()) {
        const std::string line = sequence_line(event);
        if (!line.empty()) output_.append_line(line);
    }
    if (is_replay() && !prints_json()) output_.append(difference_text(event));
    print_reply(event);
}

void Reporter::on_sent(const Event& event) {
    if (event.is_unterminated) unterminated_id_ = event.message.id + event.count - 1;
    if (!journal_ && (!prints_json() || run_.session.expect != Expect::none)) return;
    Event each = event;
    for_each_piece(*run_.session.framing, event.message.payload, [&](std::string_view piece) {
        each.message.payload = piece;
        if (journal_) journal_->add_event(each);
        if (run_.session.expect == Expect::none) add_object(each);
        ++each.message.id;
    });
}

void Reporter::flush() {
    if (journal_) journal_->flush();
    if (output_.pending() > 0) output_.flush();
}

// --- The forms.

void Reporter::add_object(const Event& event) {
    if (!prints_json() || !reports_messages() || options_.is_quiet) return;
    const EventForm form{.max_payload = prints_recording(options_, run_) ? whole_payload : 0,
                         .has_connection = is_load()};
    output_.append_line(yodel::json(event, started_at_, form).str());
}

// Prints the received bytes. Except in a load, bytes without frames are printed as they are
// read. A duplicate datagram is not printed, because the network made the duplicate.
void Reporter::print_reply(const Event& event) {
    const std::string_view payload = event.reply.payload;
    const bool is_as_read = is_unframed() && !is_load();
    if (!prints_replies() || !has_reply(event.fate)) return;
    if (is_as_read != (event.fate == Fate::read)) return;
    if (event.fate == Fate::duplicate && run_.session.endpoint.is_udp) return;
    if (options_.form == Form::hex)
        return output_.append(payload.empty() ? ui::hex_row("", 0) + "\n"
                                              : hex_lines("", payload));
    if (is_as_read && !makes_printable_) return output_.write(payload);
    if (is_load()) output_.append(std::to_string(event.connection) + ": ");
    if (makes_printable_) {
        const std::string all = std::exchange(partial_character_, {}) + std::string(payload);
        const std::size_t whole = all.size() - (is_as_read ? partial_character_size(all) : 0);
        partial_character_ = all.substr(whole);
        print_visible(std::string_view(all).substr(0, whole));
    } else {
        output_.append(payload);
    }
    const bool is_unterminated =
        has_message(event.fate) && event.message.id == unterminated_id_;
    if (is_load() || !(is_as_read || is_unterminated)) output_.append("\n");
}

// Prints the bytes, with unsafe ones escaped except newlines.
void Reporter::print_visible(std::string_view bytes) {
    std::size_t end = 0;
    while ((end = bytes.find('\n')) != std::string_view::npos) {
        output_.append_line(ui::printable(bytes.substr(0, end)));
        bytes.remove_prefix(end + 1);
    }
    output_.append(ui::printable(bytes));
}

// --- How a replay differs from its recording.

// Returns an empty text for events that need no report, such as the recorded reply in time.
std::string Reporter::difference_text(const Event& event) const {
    const Message& message = event.message;
    const Reply& reply = event.reply;
    const std::string which = "reply " + std::to_string(message.id);
    const std::string recorded_reply(message.expected.value_or(""));
    if (event.fate == Fate::missing)
        return "a recorded unsolicited message is missing\n" +
               rows("recorded", reply.payload, 0);
    if (event.fate == Fate::unrecorded)
        return "an unsolicited message is not in the recording\n" +
               rows("now", reply.payload, 0);
    if (event.fate == Fate::lost)
        return which +
               (message.is_late
                    ? " did not arrive within " + duration_text(run_.session.reply_timeout)
                    : " is missing") +
               "\n" + rows("sent", message.payload, 0) + rows("recorded", recorded_reply, 0);
    if (event.fate == Fate::late && reply.is_right)
        return which + " arrived late" +
               (reply.round_trip ? " (after " + milliseconds_text(*reply.round_trip) + ")"
                                 : "") +
               " and matches the recording\n";
    if (event.fate != Fate::late && event.fate != Fate::bad) return "";
    const std::size_t at = *reply.difference;
    const std::size_t recorded_offset =
        difference(run_.session.pattern_or_null(), recorded_reply, reply.payload).value_or(at);
    std::string text =
        which + (message.expected ? " " + bad_text(reply) + "\n"
                                  : " is unexpected: no reply to its message was recorded\n");
    text += rows("sent", message.payload, 0);
    if (message.expected) text += rows("recorded", recorded_reply, recorded_offset);
    return text + rows("now", reply.payload, at);
}

// Returns rows that show the payload around the difference, as a hex dump with `is_hex`. If
// they do not show the whole payload, the label contains its size.
std::string Reporter::rows(const char* name, std::string_view payload,
                           std::size_t difference) const {
    const std::size_t before = std::max(difference, part_size_before) - part_size_before;
    const std::size_t begin =
        payload.size() <= part_size ? 0 : std::min(before, payload.size()) / 16 * 16;
    const std::size_t end = std::min(begin + part_size, payload.size());
    std::string head = format("    %-9s", name);
    if (end - begin < payload.size())
        head += " (bytes " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                std::to_string(payload.size()) + ")";
    if (!options_.is_hex)
        return head + " " + ui::printable(payload.substr(begin, end - begin)) + "\n";
    return head + "\n" + hex_lines("    ", payload, begin, end);
}

// --- The end.

std::string Reporter::finish_output() {
    print_visible(std::exchange(partial_character_, {}));
    if (journal_) journal_->drain();
    return journal_ ? journal_->trouble() : "";
}

void Reporter::add_end(const std::string& object) {
    if (journal_) journal_->finish(object);
    if (prints_json()) output_.append_line(object);
    output_.flush();
}

}  // namespace yodel
