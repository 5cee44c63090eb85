#include "app/screen/conversation.hpp"

#include "app/protocol/message_object.hpp"
#include "app/stats/outcome.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/escapes.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

namespace yodel {

using State = Session::State;
using ui::Style;

namespace {

// Time in which the user may not have noticed a successful retry yet.
constexpr ev::Duration reaction_time = std::chrono::seconds(2);
// Round trips in the status line's sparkline.
constexpr std::size_t recent_count = 8;

MessageLog::WallTime wall_time() { return std::chrono::system_clock::now(); }

}  // namespace

Conversation::Conversation(ev::Loop& loop, const Options& options, User& user)
    : loop_(loop),
      options_(options),
      user_(user),
      log_({}, options.session.expect != Expect::any || options.session.pattern),
      session_(loop, options_.session, *this) {
    results_.datagrams = session_.options().framing->datagrams;
    if (!options_.log.empty()) open_file(options_.log.path);
}

// Prints no summary after a failure to connect, because there is nothing to count.
int Conversation::report() {
    if (file_open()) stop_file();
    const bufio::End& end = session_.end();
    const int status = exit_status(end);
    if (status != 0 || end.reason == bufio::Reason::unclosed)
        results_.count_failure(explain(end, session_.tls()), status, true);
    results_.count_end(status, true);
    results_.count_unsent(queued_lines_.size());
    if (const auto facts = session_.tcp()) results_.add_tcp({.min_rtt = facts->min_rtt});
    results_.unverified = unverified_remark(end, session_.tls());
    Outcome outcome{.results = results_,
                    .words = {.answered = session_.options().expect == Expect::any,
                              .summary = !options_.quiet && (status == 0 || results_.any())}};
    if (!file_trouble_.empty()) outcome.troubles = {{output_failed, file_trouble_}};
    outcome.print();
    return outcome.status();
}

void Conversation::add_note(std::string_view text, Style style) {
    log_.add_note(wall_time(), text, style);
    user_.conversation_changed();
}

// --- Events of the session.

void Conversation::session_changed() {
    user_.conversation_changed();
    const bool opened = session_.state() == State::open && reported_state_ != State::open;
    report_state();
    reported_state_ = session_.state();
    report_half_close();
    if (opened) begin_connection();
    if (opened && quitting_) session_.finish();
    const bool over = quitting_ || session_.out_of_time();
    if (over && session_.state() == State::closed) loop_.stop();
}

// Reports a half-close by the server with Expect::none, because messages can still be sent.
// With any other expectation, the half-close ends the connection.
void Conversation::report_half_close() {
    const bool ended = session_.state() == State::open && session_.half_closed();
    if (ended && !half_close_noted_)
        add_note("the server has shut down its sending side; you can still send", Style::warn);
    half_close_noted_ = ended;
}

void Conversation::report_state() {
    const State state = session_.state();
    if (state == reported_state_) return;
    const std::string end = explain(session_.end(), session_.tls());
    if (state == State::open) {
        retried_ = !std::exchange(reported_trouble_, {}).empty();
        if (session_.peer_known())
            return add_note("connected to " + session_.address().text(), Style::good);
        if (session_.end()) return;  // a refusal of datagrams was already reported
        add_note("sending to " + session_.options().target() +
                 "; only a reply shows that a server is there");
    }
    if (state == State::waiting && std::exchange(reported_trouble_, end) != end)
        add_note(end + "; retrying, M-r retries now", Style::bad);
    if (state == State::closed)
        add_note(end + "; M-r reconnects",
                 exit_status(session_.end()) != 0 ? Style::bad : Style::dim);
}

// A replay repeats one connection, so each connection gets its own recording.
void Conversation::begin_connection() {
    if (journal_ && journal_->complete()) {
        stop_file();
        start_file();
    } else if (journal_) {
        journal_->connected();
    }
    for (const std::string& line : std::exchange(queued_lines_, {})) send(line);
}

// Reports an event to the user, and to the journal if there is one, and counts it.
void Conversation::record(Fate fate, const Message* message, const Reply* reply) {
    user_.conversation_changed();
    Answer answer;
    if (message && reply)
        answer = {reply->right, message->late,    reply->round_trip,
                  false,        reply->reordered, reply->round_trip};
    if (journal_) journal_->add(fate, message, reply, answer, loop_.now());
    tally_.add(fate, answer, loop_.now());
}

void Conversation::session_answered(const Message& message, const Reply& reply) {
    record(fate_of(message, reply), &message, &reply);
    const auto facts = session_.tcp();
    log_.add_answer(wall_time(), message, reply, facts ? facts->min_rtt : std::nullopt);
    if (!reply.right && results_.bad == 1)
        if (const std::string hint =
                reply_hint(*session_.options().framing, message.payload, reply);
            !hint.empty())
            add_note(hint, Style::warn);
    if (!reply.round_trip) return;
    percentile_history_.record(loop_.now(), *reply.round_trip);
    recent_.push_back(*reply.round_trip);
    if (recent_.size() > recent_count) recent_.pop_front();
}

void Conversation::session_lost(const Message& message) {
    record(Fate::lost, &message, nullptr);
    const std::string part = message.late ? session_.partial_text(message) : "";
    const std::string when = message.late
                                 ? "after " + duration_text(session_.options().reply_timeout)
                                 : "before the connection ended";
    log_.add_loss(wall_time(), message, "no reply " + when + (part.empty() ? "" : "; " + part));
}

void Conversation::session_unsolicited(std::string_view payload) {
    record(Fate::unsolicited, payload);
    log_.add_unsolicited(wall_time(), payload);
}

// Adds a note only about the first stale reply.
void Conversation::session_stale(std::string_view payload) {
    session_unsolicited(payload);
    if (results_.stale == 0) add_note(stale_text(payload), Style::warn);
    ++results_.stale;
}

void Conversation::session_differing(const std::string& sentence) {
    add_note(sentence, Style::bad);
}

void Conversation::session_duplicate(std::string_view payload) {
    record(Fate::duplicate, payload);
    log_.add_duplicate(wall_time(), payload);
}

// --- Sending.

void Conversation::quit_when_answered() {
    if (session_.state() != State::open) return quit();
    quitting_ = true;
    session_.finish();
}

// The session reports the lost messages and then its end, from the loop. Then session_changed()
// stops the loop. A session that has already reported its end reports nothing more, so quit()
// stops the loop.
void Conversation::quit() {
    quitting_ = true;
    session_.disconnect();
    if (reported_state_ == State::closed && session_.state() == State::closed) loop_.stop();
}

void Conversation::disconnect() {
    quitting_ = false;
    session_.disconnect();
}

// The session reports both calls as one change, so that the log shows only the new attempt.
void Conversation::reconnect() {
    const bool just_opened =
        session_.state() == State::open && loop_.now() - session_.since() < reaction_time;
    if (std::exchange(retried_, false) && just_opened)
        return add_note("connected just now; press M-r again to reconnect", Style::warn);
    disconnect();
    session_.connect();
}

void Conversation::send(const std::string& line) {
    if (session_.state() == State::open) return send_now(line);
    if (quitting_) return refuse(line, "not sent; yodel quits once all replies are in");
    queued_lines_.push_back(line);
    add_note("not connected; will be sent once connected: " + line, Style::warn);
}

void Conversation::send_now(const std::string& line) {
    const auto payload = options_.escapes ? unescaped(line) : line;
    if (!payload) return refuse(line, escapes_expected);
    const Framing& framing = *session_.options().framing;
    const std::string name(framing.name);
    const Queued queued = session_.send(*payload);
    if (!queued)
        return refuse(line, payload->empty() ? "-f " + name + " does not allow empty messages"
                                             : "too long for " + name);
    const bool awaited = session_.options().expect != Expect::none;
    const ev::Time now = loop_.now();
    std::uint64_t id = queued.first;
    for_each_piece(framing, *payload, [&](std::string_view piece) {
        log_.add_sent(wall_time(), id, piece);
        const Message message{.id = id, .payload = piece, .planned = now, .sent = now};
        if (!awaited) record(Fate::sent, &message, nullptr);
        ++id;
    });
    results_.count_sent(queued.count, now);
    session_.flush();
}

void Conversation::refuse(const std::string& line, const std::string& why) {
    user_.line_refused(line);
    add_note(why, Style::warn);
}

// --- The file.

void Conversation::toggle_file() {
    if (!file_open()) return start_file();
    const std::string kind = options_.log.kind();
    if (stop_file()) return add_note("stopped writing the " + kind);
    add_note("could not write all of the " + kind + " file; stopped writing", Style::bad);
}

void Conversation::flush_file() {
    if (journal_ && !journal_->flush()) toggle_file();
}

void Conversation::start_file() {
    const std::string name = next_file_name();
    try {
        open_file(name);
        add_note("writing the " + std::string(options_.log.kind()) + " to " + name);
    } catch (const std::system_error& error) {
        fail_file(error.what());
        add_note(error.what(), Style::bad);
    }
}

// A transcript continues its file. Each recording needs a new file: x.json, x-2.json, x-3.json
std::string Conversation::next_file_name() const {
    const std::string& first = options_.log.path;
    if (first.empty()) return local_time_text("yodel-%Y%m%d-%H%M%S.log", wall_time());
    if (!options_.log.recording) return first;
    const std::size_t dot = first.rfind('.');
    std::string name = first;
    std::error_code unknown;
    for (unsigned number = 2; std::filesystem::exists(name, unknown); ++number)
        name = first.substr(0, dot) + "-" + std::to_string(number) + first.substr(dot);
    return name;
}

void Conversation::open_file(const std::string& name) {
    journal_.emplace(JournalFile(name), session_, loop_.now());
    log_.write_to([this](char sign, auto line) { journal_->add_line(sign, line); });
}

bool Conversation::stop_file() {
    const bool whole = journal_->finish("stopped");
    log_.write_to({});
    journal_.reset();
    if (!whole)
        fail_file("could not write all of the " + std::string(options_.log.kind()) + " file");
    return whole;
}

// Stores the first error, which decides the exit status.
void Conversation::fail_file(const std::string& trouble) {
    if (file_trouble_.empty()) file_trouble_ = trouble;
}

}  // namespace yodel
