#include "app/pipe/reporter.hpp"

#include "app/pipe/connection_report.hpp"
#include "app/protocol/message_object.hpp"
#include "app/stats/end_object.hpp"
#include "app/stats/hgrm.hpp"
#include "app/stats/lateness.hpp"
#include "app/stats/network_share.hpp"
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
    if (session.options().framing->datagrams) result_.tally.datagrams.emplace();
    const bool recording = Recorder::wanted(options_.log);
    if (recording) recorder_.emplace(options_.log, session, start_);
    if (!recording && !options_.log.empty()) log_.emplace(options_.log);
    if (!options_.hgrm.empty()) hgrm_.emplace(options_.hgrm);
    if (options_.replay) replay_.emplace(options_.hex, session.options().reply_timeout);
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
    ++result_.connections.asked;
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
    settle_result();
    const bool json = options_.form == Form::json;
    const std::string end = json || recorder_ ? end_text() : std::string();
    if (recorder_) recorder_->finish(end);
    if (json) append_line(end);
    output_.flush();
}

// Where the wait for another try is given up, its failure was counted before. A try that fails
// before anything else is reported was not seen to begin.
void Reporter::try_ended() {
    RunResult::Connections& connections = result_.connections;
    if (connections.asked == 0) connecting();
    if (!trying_) return;
    trying_ = false;
    if (opened_) add_tcp(result_, session_);
    opened_ = false;
    const int failure = exit_status(session_.end());
    if (failure == success) return;
    connections.failed = connections.asked - connections.opened;
    result_.count_failure(explain(session_.end(), session_.tls()), failure);
}

void Reporter::settle_result() {
    const ev::Time begin = first_sent_.value_or(last_reply_);
    result_.set_elapsed(std::max(last_reply_ - begin, ev::Duration::zero()));
    verdict_ = Verdict::on(result_, options_.verdict);
    result_.status = status();
}

void Reporter::write_hgrm() {
    if (!hgrm_) return;
    const std::string trouble = hgrm_->write(hgrm_text(result_.tally.round_trips));
    if (!trouble.empty()) record({yodel::output_failed, trouble});
}

std::string Reporter::end_text() const {
    JsonObject object = end_object(result_, session_.end().text);
    if (replay_) replay_->add_counts(object, result_.tally);
    if (refused_certificate(session_)) object.object("tls", tls_object(*session_.tls()));
    if (verdict_.comparison) object.object("compare", verdict_.comparison->json());
    return object.str();
}

// --- Messages.

void Reporter::sent(std::string_view payload, Queued queued, ev::Time planned) {
    if (!first_sent_) first_sent_ = loop_.now();
    result_.tally.sent += queued.count;
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
    if (signo_ != 0) return;
    ++result_.tally.sent;
    lost(unanswered(id, payload, planned));
    output_.flush();
}

void Reporter::answered(const Message& message, const Reply& reply,
                        std::optional<ev::Duration> transit) {
    last_reply_ = loop_.now();
    if (replay_ && message.late && !message.expected) revoke_silence();
    result_.tally.answered(reply.right, message.late, reply.round_trip);
    if (result_.tally.datagrams) result_.tally.datagrams->answered(reply.out_of_order, transit);
    if (!reply.right && result_.tally.bad == 1) warn_of_mismatch(message, reply);
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
    last_reply_ = loop_.now();
    result_.tally.echoed_together(batch.count, round_trip);
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
    ++result_.tally.lost;
    if (replay_ && options_.form != Form::json) output_.append(replay_->lost(message));
    log('-', "no reply to message " + std::to_string(message.id));
    add_message("lost", &message, nullptr);
    if (options_.form == Form::sequence && !options_.quiet)
        append_line("no reply, seq " + std::to_string(message.id) +
                    (message.resent ? ", resent" : ""));
}

void Reporter::silent_again(const Message& message) {
    ++result_.tally.echoed;
    log('-', "no reply to message " + std::to_string(message.id) + ", as before");
    add_message("as before", &message, nullptr);
}

// The message was counted as one without a reply, as before; and a late one comes.
void Reporter::revoke_silence() {
    --result_.tally.echoed;
    ++result_.tally.lost;
}

void Reporter::unsolicited(std::string_view payload) {
    add_unsolicited("unasked", payload);
    if (!raw() && bytes_pass()) print(payload);
}

void Reporter::add_unsolicited(const char* verdict, std::string_view payload) {
    ++result_.tally.unsolicited;
    if (!raw()) log('<', payload);
    const Reply reply{payload, {}, false, 0};
    add_message(verdict, nullptr, &reply);
}

void Reporter::came_again(std::string_view payload) {
    replay_->count_again();
    add_unsolicited("unasked", payload);
}

void Reporter::unrecorded(std::string_view payload) {
    add_unsolicited("unrecorded", payload);
    const std::string text = replay_->unrecorded(payload);
    if (options_.form != Form::json) output_.append(text);
}

void Reporter::missing(std::string_view payload) {
    const std::string text = replay_->missing(payload);
    log('-', "an unsolicited message did not come again");
    const Reply reply{payload, {}, false, 0};
    add_message("missing", nullptr, &reply);
    if (options_.form != Form::json) output_.append(text);
}

// It is not printed: the reply was, when it first came.
void Reporter::repeated(std::string_view payload) {
    if (result_.tally.datagrams) ++result_.tally.datagrams->twice;
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
    if (!log_trouble().empty()) print_error("yodel", log_trouble());
    if (!trouble_.text.empty()) print_error("yodel", trouble_.text);
    if (output_.error() != 0) print_error("yodel", "standard output: " + output_.error_text());
    if (refused_certificate(session_) && options_.verbose)
        print_error("yodel", "the certificate: " + certificate_text(*session_.tls()));
    if (exit_status(session_.end()) != 0)
        print_error("yodel", explain(session_.end(), session_.tls()));
    const bool wanted = !options_.quiet || options_.form == Form::sequence;
    const bool orderly = exit_status(session_.end()) == 0 && !options_.probe;
    if (wanted && (orderly || result_.tally.sent > 0)) print_error("yodel", summary());
    for (const std::string& line : verdict_.lines(!wanted)) print_error("yodel", line);
    return status();
}

std::string Reporter::summary() const {
    const Histogram& round_trips = result_.tally.round_trips;
    const auto& tcp = result_.tcp;
    const Tally& tally = result_.tally;
    const std::string counts = replay_ ? replay_->summary(tally) : tally.summary();
    return counts + lateness_remark(result_.lateness, round_trips) +
           network_remark(round_trips, tcp ? tcp->min_rtt : std::nullopt) +
           unverified_remark(session_.end(), session_.tls());
}

std::string Reporter::log_trouble() const {
    if (recorder_) return recorder_->trouble();
    return log_ ? log_->trouble() : "";
}

// As a shell reports the death by a signal, where one ends the program.
int Reporter::status() const {
    if (signo_ != 0) return 128 + signo_;
    if (const int status = exit_status(session_.end()); status != 0) return status;
    if (output_.error() != 0 || !log_trouble().empty()) return yodel::output_failed;
    if (trouble_.status != 0) return trouble_.status;
    const bool other = replay_ && replay_->any_difference();
    const bool failed = other || result_.tally.bad > 0 || result_.tally.lost > 0;
    return failed || !verdict_.failures.empty() ? reply_wrong_or_lost : success;
}

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
