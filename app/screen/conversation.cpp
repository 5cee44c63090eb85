// How the full-screen client connects, sends and receives, and writes a transcript or
// recording.

#include "app/screen/screen_client.hpp"
#include "app/stats/outcome.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <chrono>
#include <filesystem>
#include <vector>

namespace yodel {

using State = Session::State;
using ui::Style;

namespace {

// Time within which the user may not yet have noticed that a retry succeeded.
constexpr ev::Duration reaction_time = std::chrono::seconds(2);
// Round trips in the status line's sparkline.
constexpr std::size_t max_recent_round_trips = 8;

constexpr const char* no_target_text =
    "there is no target; to connect to one, run yodel -r FILE TARGET";

}  // namespace

const Results& ScreenClient::shown_results() const {
    return counts_recording() ? recorded_results_ : results_;
}

const Results* ScreenClient::results_a_minute_ago() const {
    if (counts_recording()) return nullptr;
    for (const auto& [time, results] : earlier_results_)
        if (loop_.now() - time <= std::chrono::minutes(1)) return &results;
    return &results_;
}

// After a failure, prints a summary only if messages were sent or queued, because otherwise
// there is nothing to count.
int ScreenClient::report() {
    terminal().restore();
    if (!options_.has_target) return success;
    if (journal_) stop_file();
    const bufio::End& end = session_.end();
    const int status = exit_status(end);
    RunResults all{results_};
    if (status != 0 || end.reason == bufio::Reason::unclosed)
        all.count_failure(end_text(session_), status, true);
    all.record_end(status, true);
    all.unsent += queued_messages_.size();
    if (const auto facts = session_.tcp()) all.add_tcp({.min_rtt = facts->min_rtt});
    all.unverified_remark = unverified_remark(end, session_.tls());
    Outcome outcome{.results = all,
                    .summary_parts = {.expects_any = session_.options().expect == Expect::any,
                                      .listens = session_.options().listens(),
                                      .has_summary = !options_.is_quiet &&
                                                     (status == 0 || all.has_messages())}};
    if (!file_trouble_.empty()) outcome.troubles = {{output_failed, file_trouble_}};
    outcome.print();
    return outcome.status();
}

// The messages of the recording count in `recorded_results_`, apart from those of the session.
void ScreenClient::show_recording() {
    using std::chrono::system_clock;
    const Recording& shown = *options_.recording;
    for (const StoredEvent& stored : shown.events) {
        Event event = *stored;
        event.message.is_late = event.message.is_late && recorded_results_.lost > 0;
        recorded_results_.add(event);
        const ev::Duration after = event.at.time_since_epoch();
        show(event, shown.started + std::chrono::duration_cast<system_clock::duration>(after),
             event.reply.is_right ? Style::good : Style::dim);
    }
    if (shown.has_samples) recorded_results_.round_trips = shown.round_trips;
    if (!shown.trouble.text.empty()) add_note(shown.trouble.text, Style::bad);
    if (options_.has_target) recent_round_trips_.clear();
}

void ScreenClient::show(const Event& event, Transcript::WallTime at, Style note_style) {
    const bool is_answered = has_message(event.fate) && has_reply(event.fate);
    Event shown = event;
    if (session_.options().listens() && event.fate == Fate::unsolicited) {
        // The user answers by hand. The time shown is how long the client took after our last
        // message.
        shown.reply.is_right = true;
        if (session_.flushed_at() > session_.state_began_at())
            shown.reply.round_trip = event.at - session_.flushed_at();
    }
    Transcript::Entry entry{StoredEvent(shown), at, {}, note_style};
    if (is_answered)
        if (const auto facts = session_.tcp()) entry.min_rtt = facts->min_rtt;
    transcript_.append(std::move(entry));
    mark_changed();
    if (!is_answered || !event.reply.round_trip) return;
    percentile_history_.record(event.at, *event.reply.round_trip);
    recent_round_trips_.push_back(*event.reply.round_trip);
    if (recent_round_trips_.size() > max_recent_round_trips) recent_round_trips_.pop_front();
}

// If there is no target, adds a note and returns true.
bool ScreenClient::refuse_without_target() {
    if (!options_.has_target) add_note(no_target_text, Style::warn);
    return !options_.has_target;
}

// --- Events of the session.

void ScreenClient::session_changed() {
    mark_changed();
    session_changed_at_ = loop_.now();
    const State state = session_.state();
    const bool has_opened = is_open() && reported_state_ != State::open;
    if (state != reported_state_) report_state();
    reported_state_ = state;
    // If a half-close has not ended the connection, messages can still be sent.
    const bool is_half_closed =
        is_open() && session_.is_peer_half_closed() && !session_.options().listens();
    if (is_half_closed && !has_noted_half_close_)
        add_note("the server has shut down its sending side; you can still send", Style::warn);
    has_noted_half_close_ = is_half_closed;
    if (has_opened && journal_) record_connection();
    if (is_open() && !queued_messages_.empty()) send_now(std::exchange(queued_messages_, {}));
    if (has_opened && is_quitting_) session_.finish();
    const bool is_over = session_.state() == State::closed || session_.state() == State::idle;
    if (is_over && (is_quitting_ || session_.is_out_of_time())) loop_.stop();
}

void ScreenClient::report_state() {
    const State state = session_.state();
    const bool is_listening = session_.options().listens();
    const bufio::End& end = session_.end();
    if (is_listening && reported_state_ == State::idle)
        add_note(session_.options().listening_text());
    if (state == State::closed || (is_listening && state == State::waiting))
        return add_note(end_text(session_), exit_status(end) != 0 ? Style::bad : Style::dim);
    if (state == State::waiting) {
        const bufio::End last = std::exchange(reported_failure_, end);
        if (last.reason != end.reason || last.detail != end.detail)
            add_note(end_text(session_) + "; retrying; F5 retries now", Style::bad);
    }
    if (state != State::open) return;
    was_retried_ = static_cast<bool>(std::exchange(reported_failure_, {}));
    if (is_listening || session_.is_peer_known())
        add_note((is_listening ? "connection from " : "connected to ") +
                     session_.address().text(),
                 Style::good);
    else if (!end)  // a refusal of datagrams was already reported
        add_note("sending to " + session_.options().target() +
                 "; only a reply shows that a server is there");
    for (const std::string& each : session_.opening_notes()) add_note(each);
}

void ScreenClient::add_note(std::string_view text, Style style) {
    add_event({.reply = {.payload = text}}, style);
}

void ScreenClient::session_event(const Event& event) {
    // What is in flight when the user quits was neither too late nor lost by the connection.
    const bool has_user_quit = is_quitting_ && session_.end().reason == bufio::Reason::aborted;
    if (event.fate == Fate::read || (event.fate == Fate::lost && has_user_quit)) return;
    add_event(event);
    const Reply& reply = event.reply;
    if (event.fate == Fate::stale && results_.stale == 1)
        add_note(stale_text(reply.payload), Style::warn);
    if (!has_message(event.fate) || !has_reply(event.fate) || reply.is_right ||
        results_.bad != 1)
        return;
    const std::string hint =
        reply_hint(*session_.options().framing, event.message.payload, reply);
    if (!hint.empty()) add_note(hint, Style::warn);
}

// Counts and shows an event, and adds it to the journal. For a recording, a message counts as
// sent only once its fate is known, because a recording omits messages without a fate.
void ScreenClient::add_event(const Event& event, Style note_style) {
    using namespace std::chrono_literals;
    auto& earlier = earlier_results_;
    if (earlier.empty() || loop_.now() - earlier.back().first >= 1s)
        earlier.emplace_back(loop_.now(), results_);
    while (loop_.now() - earlier.front().first > 1min) earlier.pop_front();
    results_.add(event);
    if (journal_ && journal_->add_event(event)) {
        if (has_message(event.fate) && event.fate != Fate::sent && event.fate != Fate::late)
            file_results_.add({.fate = Fate::sent, .at = event.message.sent_at});
        file_results_.add(event);
    }
    show(event, std::chrono::system_clock::now(), note_style);
}

// --- Sending.

void ScreenClient::quit_when_answered() {
    if (!is_open()) return quit_now();
    is_quitting_ = true;
    session_.finish();
}

// The session reports the lost messages and then its end from the loop, and session_changed()
// then stops the loop. A session that has already reported its end reports nothing more, so
// quit_now() stops the loop itself.
void ScreenClient::quit_now() {
    is_quitting_ = true;
    session_.disconnect();
    const State state = session_.state();
    const bool is_closed = reported_state_ == State::closed && state == State::closed;
    if (is_closed || state == State::idle) loop_.stop();
}

void ScreenClient::disconnect() {
    if (refuse_without_target()) return;
    is_quitting_ = false;
    session_.disconnect();
}

// The session reports both calls as one change, so that no note about the disconnection
// appears.
void ScreenClient::reconnect() {
    if (refuse_without_target()) return;
    const bool has_just_opened =
        is_open() && loop_.now() - session_.state_began_at() < reaction_time;
    if (std::exchange(was_retried_, false) && has_just_opened)
        return add_note("just connected; press F5 again to reconnect", Style::warn);
    is_quitting_ = false;
    session_.disconnect();
    session_.connect();
}

bool ScreenClient::sends_each_line() const {
    const Framing& framing = *session_.options().framing;
    return framing.delimiter.ends_with('\n') && !framing.takes_turns;
}

void ScreenClient::send(const std::string& text) {
    const auto refuse = [&](const std::string& why) {
        editor_.set(text);
        add_note(why, Style::warn);
    };
    if (!options_.has_target) return refuse(no_target_text);
    if (is_quitting_) return refuse("not sent, because yodel is quitting");
    std::vector<std::string> messages;
    const std::string trouble = split(text, messages);
    if (!trouble.empty()) return refuse(trouble);
    if (is_open()) return send_now(messages);
    queued_messages_.insert(queued_messages_.end(), messages.begin(), messages.end());
    const bool is_reconnecting = reconnects_to_send(session_);
    add_note((is_reconnecting ? "connecting again to send: "
                              : "not connected; will be sent once connected: ") +
                 text,
             Style::warn);
    if (is_reconnecting) session_.connect();
}

std::string ScreenClient::split(const std::string& text,
                                std::vector<std::string>& messages) const {
    const Session::Options& options = session_.options();
    const Framing& framing = *options.framing;
    for (std::size_t at = 0, end = 0; end != text.npos; at = end + 1) {
        end = sends_each_line() ? text.find('\n', at) : text.npos;
        std::string line = text.substr(at, end - at);
        if (line.empty() && framing.min_payload() > 0) continue;
        if (framing.takes_turns)
            for (std::size_t i = line.find('\n'); i != line.npos; i = line.find('\n', i + 2))
                line.insert(i, 1, '\r');
        const auto payload = options_.has_escapes ? unescaped(line) : std::move(line);
        if (!payload) return escapes_expected;
        if (!is_sendable(framing, options.max_frame, *payload))
            return "not sent: " + framing.misfit_text(payload->size(), options.max_frame);
        for_each_piece(framing, *payload,
                       [&](std::string_view piece) { messages.emplace_back(piece); });
    }
    if (messages.empty()) return "not sent: " + framing.misfit_text(0, options.max_frame);
    return {};
}

void ScreenClient::send_now(const std::vector<std::string>& messages) {
    Event sent{.fate = Fate::sent};
    sent.message = {.id = session_.last_id() + 1, .payload = {}};
    for (const std::string& message : messages) session_.send(message);
    session_.flush();
    sent.at = session_.flushed_at();
    sent.message.planned_at = sent.at;
    sent.message.sent_at = sent.at;
    for (const std::string& message : messages) {
        sent.message.payload = message;
        session_event(sent);
        ++sent.message.id;
    }
    messages_sent_together_ = messages.size();
}

// --- The file.

void ScreenClient::toggle_file() {
    if (refuse_without_target()) return;
    if (!journal_) return start_file();
    if (stop_file()) add_note(std::string("stopped writing the ") + options_.log.kind());
}

// A transcript is appended to its file. Each recording needs a new file: x.json, x-2.json, ...
void ScreenClient::start_file() {
    const std::string& first = options_.log.path;
    std::string name = first;
    if (first.empty())
        name = local_time_text("yodel-%Y%m%d-%H%M%S.log", std::chrono::system_clock::now());
    const std::size_t dot = first.rfind('.');
    std::error_code ignored;
    for (unsigned number = 2;
         options_.log.is_recording && std::filesystem::exists(name, ignored); ++number)
        name = first.substr(0, dot) + "-" + std::to_string(number) + first.substr(dot);
    try {
        open_file(name);
        add_note("writing the " + std::string(options_.log.kind()) + " to " + name);
    } catch (const FileError& error) {
        report_file_error(error.what());
    }
}

// A recording begins with the open connection, if any, and with the next message.
void ScreenClient::open_file(const std::string& name) {
    journal_.emplace(JournalFile(name), session_.options(), session_.last_id() + 1,
                     loop_.now());
    file_results_ = {};
    file_results_.uses_datagrams = results_.uses_datagrams;
    if (is_open()) record_connection();
}

// Adds the open connection to the journal. A replay repeats one connection, so each connection
// gets its own recording.
void ScreenClient::record_connection() {
    if (journal_->is_recording() && file_results_.opened > 0) {
        stop_file();
        return start_file();
    }
    const Session::Phases& phases = session_.phases();
    ++file_results_.attempts;
    file_results_.count_opened(phases.tcp, phases.handshake,
                               session_.tls() && session_.tls()->is_resumed, session_.tls());
    journal_->add_connection(session_);
}

bool ScreenClient::stop_file() {
    const RunResults counted{file_results_};
    const Outcome outcome{.results = counted, .reason = "stopped"};
    const bool is_whole = journal_->finish(outcome.json().str());
    journal_.reset();
    const std::string kind = options_.log.kind();
    if (!is_whole)
        report_file_error("could not write all of the " + kind + " file", "; stopped writing");
    return is_whole;
}

// Adds a note, and stores the first error, which may decide the exit status.
void ScreenClient::report_file_error(const std::string& trouble, const char* effect) {
    if (file_trouble_.empty()) file_trouble_ = trouble;
    add_note(trouble + effect, Style::bad);
}

}  // namespace yodel
