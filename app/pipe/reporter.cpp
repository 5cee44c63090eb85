#include "app/pipe/reporter.hpp"

#include "app/pipe/connection_report.hpp"
#include "app/protocol/message_object.hpp"
#include "app/stats/end_object.hpp"
#include "app/stats/hgrm.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/json.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace yodel {

namespace {

// The peer has shown a certificate, and no connection came of it.
bool refused_certificate(const AnySession& session) {
    const bufio::Reason reason = session.end().reason;
    const bool refused = reason == bufio::Reason::certificate || reason == bufio::Reason::pin;
    return refused && session.tls();
}

std::string certificate_text(const bufio::TlsFacts& tls) {
    return tls.subject + ", issued by " + tls.issuer + ", valid until " + tls.not_after + ", " +
           tls.pin;
}

// 64 bytes, seq 1, 0.21 ms
std::string sequence_line(const Message& message, const Reply& reply) {
    std::string text =
        std::to_string(reply.payload.size()) + " bytes, seq " + std::to_string(message.id);
    if (reply.round_trip) text += ", " + ms_text(*reply.round_trip);
    if (!reply.right) text += ", differs at byte " + std::to_string(reply.difference);
    if (reply.out_of_order) text += ", out of order";
    if (message.late) text += ", late";
    return message.resent ? text + ", resent" : text;
}

Message unanswered(std::uint64_t id, std::string_view payload, ev::Time planned) {
    const ev::Time now = ev::Clock::now();
    if (planned == ev::Time{}) planned = now;
    return {.id = id, .payload = payload, .planned = planned, .sent = now};
}

// The bytes at the end that are the beginning of a UTF-8 character.
std::size_t partial_character(std::string_view bytes) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
        const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
        if ((byte & 0xc0) == 0x80) continue;
        const std::size_t size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
        return size > back ? back : 0;
    }
    return 0;
}

// An empty message has a row, too.
std::string hex_text(std::string_view bytes) {
    constexpr int width = 80;
    if (bytes.empty()) return ui::hex_row(bytes, 0);
    std::string text;
    for (const ui::HexRow& row : ui::hex_dump(bytes, width))
        text += (text.empty() ? "" : "\n") + row.text;
    return text;
}

}  // namespace

Reporter::Reporter(ev::Loop& loop, Options options, const AnySession& session,
                   std::function<void()> output_changed)
    : loop_(loop),
      options_(std::move(options)),
      session_(session),
      visible_(::isatty(STDOUT_FILENO) == 1),
      output_(loop, STDOUT_FILENO, std::move(output_changed)),
      start_(loop.now()) {
    result_.datagrams = session.options().framing->datagrams;
    const bool recording = Recorder::wanted(options_.log);
    if (recording) recorder_.emplace(options_.log, session, start_);
    if (!recording && !options_.log.empty()) log_.emplace(options_.log);
    if (!options_.hgrm.empty()) hgrm_.emplace(options_.hgrm);
    if (options_.replay) {
        replay_.emplace(options_.hex, session.options().reply_timeout);
        result_.replay.emplace();
    }
    if (options_.payloads)
        append_line(recording_object(*session.options().framing, 1, 1).str());
}

bool Reporter::reports_messages(const Options& options) {
    return options.form == Form::json || (options.form == Form::sequence && !options.quiet);
}

// --- The connection.

void Reporter::connecting() {
    if (trying_) return;
    trying_ = true;
    result_.count_try();
}

void Reporter::connected() {
    connecting();
    opened_ = true;
    result_.count_opened(session_.phases().tcp, session_.phases().tls);
    if (options_.form == Form::json) append_line(connection_object(session_).str());
    if (recorder_) recorder_->connected(session_);
    const std::string text = connection_text(session_);
    log('-', text);
    if ((options_.probe && !options_.quiet) || options_.verbose) print_error("yodel", text);
}

void Reporter::retrying() {
    try_ended();
    const std::string text = explain(session_.end(), session_.tls()) + "; next try in " +
                             duration_text(session_.retry_time() - session_.since());
    log('-', text);
    if (!options_.quiet || options_.verbose) print_error("yodel", text);
}

// The files come first because their failures count in the status that the result has.
void Reporter::ended() {
    print_visible(std::exchange(partial_, {}));
    log('-', session_.end().text);
    if (log_) log_->finish();
    if (recorder_) recorder_->drain();
    write_hgrm();
    try_ended();
    result_.count_end(exit_status(session_.end()), was_open_);
    result_.unverified = unverified_remark(session_.end(), session_.tls());
    verdict_ = Verdict::on(result_, options_.verdict);
    const bool json = options_.form == Form::json;
    const std::string end = json || recorder_ ? end_text() : std::string();
    if (recorder_) recorder_->finish(end);
    if (json) append_line(end);
    output_.flush();
}

// Where the wait for another try is given up, its failure was counted before. A try that fails
// before anything else is reported was not seen to begin.
void Reporter::try_ended() {
    if (result_.asked == 0) connecting();
    if (!trying_) return;
    trying_ = false;
    was_open_ = std::exchange(opened_, false);
    if (was_open_) add_tcp(result_, session_);
    const int failure = exit_status(session_.end());
    if (failure != success)
        result_.count_failure(explain(session_.end(), session_.tls()), failure, was_open_);
}

void Reporter::write_hgrm() {
    if (!hgrm_) return;
    const std::string trouble = hgrm_->write(hgrm_text(result_.round_trips));
    if (!trouble.empty()) record({yodel::output_failed, trouble});
}

std::string Reporter::end_text() const {
    JsonObject object = end_object(result_, session_.end().text, status(), verdict_);
    if (refused_certificate(session_)) object.object("tls", tls_object(*session_.tls()));
    return object.str();
}

// --- Messages.

void Reporter::sent(std::string_view payload, Queued queued, ev::Time planned) {
    result_.count_sent(queued.count, loop_.now());
    log('>', payload);
    if (session_.options().expect != Expect::none) return;
    if (options_.form != Form::json && !recorder_) return;
    std::uint64_t id = queued.first;
    for (const std::string_view piece : pieces(*session_.options().framing, payload)) {
        const Message message = unanswered(id, piece, planned);
        add_message("sent", &message, nullptr);
        ++id;
    }
}

void Reporter::missed(std::string_view payload, std::uint64_t id, ev::Time planned) {
    if (ending_.signo != 0) return;
    result_.count_sent(1, loop_.now());
    lost(unanswered(id, payload, planned));
    output_.flush();
}

void Reporter::answered(const Message& message, const Reply& reply,
                        std::optional<ev::Duration> transit) {
    if (replay_ && message.late && !message.expected) result_.revoke_silence();
    result_.count_answered({reply.right, message.late, reply.round_trip}, loop_.now());
    if (result_.datagrams) result_.count_datagram(jitter_, reply.out_of_order, transit);
    if (!reply.right && result_.bad == 1) warn_of_mismatch(message, reply);
    if (!raw()) log('<', reply.payload);
    if (replay_) return answered_again(message, reply);
    add_message(verdict_of(message, reply), &message, &reply);
    if (options_.form == Form::sequence) {
        if (!options_.quiet) append_line(sequence_line(message, reply));
    } else if (options_.form != Form::json && !raw()) {
        print(reply.payload, message.id != open_line_);
    }
}

void Reporter::answered_again(const Message& message, const Reply& reply) {
    const char* const verdict = reply.right ? "as before" : "different";
    add_message(message.late ? "late" : verdict, &message, &reply);
    if (options_.form == Form::json) return;
    if (!reply.right) output_.append(replay_->different(message, reply));
    if (reply.right && message.late) output_.append(ReplayReport::late(message, reply));
}

// Lines, which came back as they were sent.
void Reporter::echoed(const Batch& batch, std::optional<ev::Duration> round_trip) {
    result_.count_echoed(batch.count, round_trip, loop_.now());
    const bool open = batch.first + batch.count - 1 == open_line_;
    output_.write(batch.frames.substr(0, batch.frames.size() - (open ? 1 : 0)));
}

void Reporter::warn_of_mismatch(const Message& message, const Reply& reply) {
    const std::string hint = replay_ ? "" : mismatch_hint(message.payload, reply.payload);
    const std::string other = replay_ ? "the recorded one" : "its message";
    print_error("yodel", "reply " + std::to_string(message.id) + " differs from " + other +
                             " at byte " + std::to_string(reply.difference) +
                             (hint.empty() ? "" : "; " + hint));
}

// A message that got no reply when it was recorded is lost as before.
void Reporter::lost(const Message& message) {
    if (replay_ && !message.expected) return silent_again(message);
    result_.count_lost();
    if (replay_ && options_.form != Form::json) output_.append(replay_->lost(message));
    log('-', "no reply to message " + std::to_string(message.id));
    add_message("lost", &message, nullptr);
    if (options_.form == Form::sequence && !options_.quiet)
        append_line("no reply, seq " + std::to_string(message.id) +
                    (message.resent ? ", resent" : ""));
}

void Reporter::silent_again(const Message& message) {
    result_.count_silence();
    log('-', "no reply to message " + std::to_string(message.id) + ", as before");
    add_message("as before", &message, nullptr);
}

void Reporter::unsolicited(std::string_view payload) {
    result_.count_unsolicited();
    add_unsolicited("unsolicited", payload);
    if (!raw() && bytes_pass()) print(payload);
}

void Reporter::add_unsolicited(const char* verdict, std::string_view payload) {
    if (!raw()) log('<', payload);
    const Reply reply{payload, {}, false, 0};
    add_message(verdict, nullptr, &reply);
}

void Reporter::came_again(std::string_view payload) {
    result_.count_recurred();
    add_unsolicited("unsolicited", payload);
}

void Reporter::unrecorded(std::string_view payload) {
    result_.count_unrecorded();
    add_unsolicited("unrecorded", payload);
    const std::string text = replay_->unrecorded(payload);
    if (options_.form != Form::json) output_.append(text);
}

void Reporter::missing(std::string_view payload) {
    result_.count_missing();
    const std::string text = replay_->missing(payload);
    log('-', "an unsolicited message did not come again");
    const Reply reply{payload, {}, false, 0};
    add_message("missing", nullptr, &reply);
    if (options_.form != Form::json) output_.append(text);
}

// It is not printed: the reply was, when it first came.
void Reporter::repeated(std::string_view payload) {
    result_.count_repeated();
    log('<', payload);
    const Reply reply{payload, {}, true, 0};
    add_message("twice", nullptr, &reply);
    if (options_.form == Form::sequence && !options_.quiet)
        append_line(std::to_string(payload.size()) + " bytes, twice");
}

void Reporter::received(std::string_view bytes) {
    if (!raw()) return;
    log('<', bytes);
    if (!bytes_pass()) return;
    if (options_.form == Form::hex) return append_line(hex_text(bytes));
    if (!visible_) return output_.write(bytes);
    const std::string all = std::exchange(partial_, {}) + std::string(bytes);
    const std::size_t whole = all.size() - partial_character(all);
    partial_ = all.substr(whole);
    print_visible(std::string_view(all).substr(0, whole));
}

// --- The end.

void Reporter::flush() {
    if (log_) log_->flush();
    if (recorder_) recorder_->flush();
    output_.flush();
}

void Reporter::output_unread(const std::string& limit) {
    if (status() == timed_out) return;
    record({timed_out, "standard output was not read within " + limit});
}

int Reporter::finish() {
    if (refused_certificate(session_) && options_.verbose)
        print_error("yodel", "the certificate: " + certificate_text(*session_.tls()));
    const bool wanted = !options_.quiet || options_.form == Form::sequence;
    const Words words{.answered = session_.options().expect == Expect::any,
                      .summary = wanted && !options_.probe};
    for (const std::string& line : last_words(result_, verdict_, ending(), words))
        print_error("yodel", line);
    return status();
}

std::string Reporter::log_trouble() const {
    if (recorder_) return recorder_->trouble();
    return log_ ? log_->trouble() : "";
}

Ending Reporter::ending() const {
    Ending all = ending_;
    const auto add = [&all](const std::string& text) {
        if (!text.empty()) all.troubles.push_back({yodel::output_failed, text});
    };
    add(log_trouble());
    if (output_.error() != 0) add("standard output: " + output_.error_text());
    return all;
}

int Reporter::status() const { return exit_status(result_, verdict_, ending()); }

// --- The forms.

bool Reporter::bytes_pass() const {
    return options_.form == Form::payload || options_.form == Form::hex;
}

void Reporter::print(std::string_view payload, bool newline) {
    if (options_.form == Form::hex) return append_line(hex_text(payload));
    const std::string text = visible_ ? ui::printable(payload) : std::string();
    const std::string_view shown = visible_ ? std::string_view(text) : payload;
    if (newline) return output_.append_line(shown);
    output_.append(shown);
}

// Newlines stay what they are.
void Reporter::print_visible(std::string_view bytes) {
    std::size_t end = 0;
    while ((end = bytes.find('\n')) != std::string_view::npos) {
        output_.append_line(ui::printable(bytes.substr(0, end)));
        bytes.remove_prefix(end + 1);
    }
    output_.append(ui::printable(bytes));
}

void Reporter::append_line(const std::string& text) { output_.append_line(text); }

void Reporter::add_message(const char* verdict, const Message* message, const Reply* reply) {
    if (recorder_) recorder_->add(verdict, message, reply, loop_.now());
    if (options_.form != Form::json) return;
    const JsonObject object =
        options_.payloads ? recorded_object(verdict, message, reply, start_, loop_.now())
                          : message_object(verdict, message, reply, start_);
    append_line(object.str());
}

void Reporter::log(char sign, std::string_view bytes) {
    if (log_) log_->add(sign, bytes);
}

}  // namespace yodel
