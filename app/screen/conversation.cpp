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
#include <vector>

namespace yodel {

using State = Session::State;
using ui::Style;

namespace {

// Time within which the user may not yet have noticed that a retry succeeded.
constexpr ev::Duration reaction_time = std::chrono::seconds(2);
// Round trips in the status line's sparkline.
constexpr std::size_t recent_count = 8;

// Recorded events that are added in one turn of the loop, so that keys and drawing are served.
constexpr int events_per_turn = 256;

constexpr const char* no_target = "nothing is connected; yodel -r FILE TARGET connects";

}  // namespace

Conversation::Side::Side(Conversation& conversation, const Session::Options& options,
                         unsigned its_number)
    : number(its_number),
      rule(std::make_shared<Session::Options>(options)),
      conversation_(conversation),
      session(conversation.loop_, rule, *this) {
    results.over_datagrams = options.framing->in_datagrams;
}

// Adds a note only about the first stale reply.
void Conversation::Side::session_stale(std::string_view payload) {
    session_unsolicited(payload);
    if (results.stale == 0)
        conversation_.add_side_note(*this, stale_text(payload), Style::warn);
    ++results.stale;
}

void Conversation::Side::session_bad_beginning(const std::string& sentence) {
    conversation_.add_side_note(*this, sentence, Style::bad);
}

Conversation::Conversation(ev::Loop& loop, const Options& options, User& user)
    : loop_(loop),
      options_(options),
      user_(user),
      log_({}, options.session.expect != Expect::any || options.session.pattern,
           options.second != nullptr),
      reading_timer_(loop, [this] { read_recording(); }) {
    sides_.push_back(std::make_unique<Side>(*this, options_.session, 0));
    if (options_.second) {
        sides_.push_back(std::make_unique<Side>(*this, *options_.second, 1));
        pairs_ = std::make_unique<Pairs>(Pairs{.pairing = Pairing(options_.mask)});
    }
    recorded_results_.over_datagrams = first().results.over_datagrams;
    recorded_results_.replay = Results::Replay{};
    if (!options_.log.empty()) open_file(options_.log.path);
}

Conversation::~Conversation() = default;

const Results& Conversation::results() const {
    return recording() && !first().results.any() ? recorded_results_ : first().results;
}

// Prints no summary after a failure to connect, because there is nothing to count.
Outcome Conversation::outcome(Side& side) {
    const Session& session = side.session;
    const bufio::End& end = session.end();
    const int status = exit_status(end);
    Results& results = side.results;
    if (status != 0 || end.reason == bufio::Reason::unclosed)
        results.count_failure(explain(end, session.tls()), status, true);
    results.count_end(status, true);
    results.count_unsent(queued_lines_.size());
    if (const auto facts = session.tcp()) results.add_tcp({.min_rtt = facts->min_rtt});
    results.unverified_remark = unverified_remark(end, session.tls());
    return {.results = results,
            .summary_parts = {.expects_any = session.options().expect == Expect::any,
                              .listens = session.options().listens(),
                              .summary = !options_.quiet && (status == 0 || results.any())}};
}

int Conversation::report() {
    if (!connects()) return success;
    if (file_open()) stop_file();
    std::vector<Trouble> troubles;
    if (!file_trouble_.empty()) troubles = {{output_failed, file_trouble_}};
    if (paired()) {
        const PairOutcome both{outcome(first()), outcome(*sides_.back()), pairs_->results,
                               troubles};
        for (const std::string& line : both.lines()) print_error(line);
        return both.decided().status;
    }
    Outcome single = outcome(first());
    single.troubles = troubles;
    single.print();
    return single.status();
}

void Conversation::add_side_note(const Side& side, std::string_view text, Style style) {
    const std::string name = paired() ? side_names[side.number] + std::string(": ") : "";
    add_note(name + std::string(text), style);
}

void Conversation::connect() {
    for (const auto& side : sides_) side->session.connect();
}

void Conversation::add_note(std::string_view text, Style style) {
    log_.add_note(wall_time(), text, style);
    user_.conversation_changed();
}

// --- The framing and the expected replies.

// Returns true if the command line accepts these choices with the other options.
bool Conversation::allows(const Framing& framing, Expect expect) const {
    if (first().rule->listens() && (expect != Expect::none || !framing.greeting.empty()))
        return false;
    const bool frames_needed = options_.escapes || options_.log.recording;
    if (frames_needed && !framing.has_frames()) return false;
    if (first().rule->pattern && (expect != Expect::any || !framing.replies_framed()))
        return false;
    return framing.can_echo() || expect != Expect::echo;
}

std::string Conversation::change_refusal() const {
    if (std::any_of(sides_.begin(), sides_.end(),
                    [](const auto& side) { return side->session.in_flight() > 0; }))
        return "not changed while messages are in flight";
    if (journal_ && options_.log.recording) return "not changed while recording (F9 stops it)";
    return {};
}

std::string Conversation::rule_text() const {
    const Framing& framing = *first().rule->framing;
    const std::string option =
        framing.is_option() ? "-f " + std::string(framing.name) + " " : "";
    return option + "--expect " + word_of(first().rule->expect);
}

std::string Conversation::next_expectation() {
    if (std::string why = change_refusal(); !why.empty()) return why;
    // The successors of echo, any and none, in the order of Expect.
    constexpr Expect next[] = {Expect::any, Expect::none, Expect::echo};
    Expect expect = first().rule->expect;
    do expect = next[static_cast<std::size_t>(expect)];
    while (!allows(*first().rule->framing, expect));
    if (expect == first().rule->expect)
        return std::string("not changed, because ") + (first().rule->listens()
                                                           ? "clients do not reply"
                                                           : "--match needs --expect any");
    change_rule(*first().rule->framing, expect);
    return {};
}

std::string Conversation::next_framing() {
    if (std::string why = change_refusal(); !why.empty()) return why;
    const Framing* framing = first().rule->framing;
    if (!framing->is_option())
        return "not changed, because each message is " + framing->label();
    const std::vector<std::string> names = framing_list();
    auto name = std::find(names.begin(), names.end(), framing->name);
    do {
        if (++name == names.end()) name = names.begin();
        framing = find_framing(*name);
    } while (!allows(*framing, first().rule->expect));
    change_rule(*framing, first().rule->expect);
    return {};
}

void Conversation::change_rule(const Framing& framing, Expect expect) {
    for (const auto& side : sides_) {
        if (side->rule->framing->is_option()) side->rule->framing = &framing;
        side->rule->expect = expect;
        side->session.rule_changed();
    }
    log_.check_replies(expect != Expect::any || first().rule->pattern);
    rule_changed_ = true;
    user_.conversation_changed();
}

// --- The recording.

void Conversation::begin() {
    if (!recording()) return connect();
    reading_timer_.start(ev::Duration::zero());
}

void Conversation::read_recording() {
    for (int i = 0; i < events_per_turn; ++i) {
        const RecordedEvent* const event = options_.recording->next_event();
        if (event) {
            add_recorded(*event);
            continue;
        }
        if (!recording()->trouble().empty()) add_note(recording()->trouble(), Style::bad);
        if (!connects()) return;
        first().recent_round_trips.clear();
        return connect();
    }
    reading_timer_.start(ev::Duration::zero());
}

void Conversation::add_recorded(const RecordedEvent& event) {
    recorded_at_ = event.at;
    switch (event.kind) {
    case RecordedEvent::Kind::connected:
        add_note("connected to " + event.sent, Style::good);
        break;
    case RecordedEvent::Kind::sent:
        log_.add_sent(wall_time(), event.message.id, event.sent);
        recorded_results_.count_sent(1, ev::Time(event.at));
        break;
    case RecordedEvent::Kind::resolved: add_recorded_fate(event); break;
    case RecordedEvent::Kind::ended: add_note(event.sent); break;
    }
    recorded_at_.reset();
}

void Conversation::add_recorded_fate(const RecordedEvent& event) {
    Message message = event.message;
    message.late = message.late && recorded_results_.lost > 0;  // it was counted as lost
    const std::string number = std::to_string(message.id);
    if (message.id == 0 && event.fate == Fate::duplicate)
        return duplicate(first(), event.reply.payload);
    if (message.id == 0) return unsolicited(first(), event.reply.payload);
    if (event.received) return answered(first(), message, event.reply);
    const bool expected = event.fate == Fate::as_recorded;
    record(first(), expected ? Fate::unanswered_as_recorded : event.fate, &message, nullptr);
    if (event.fate == Fate::unsent) return add_note("message " + number + " was not sent");
    log_.add_loss(wall_time(), message, expected ? "no reply, as recorded" : "no reply");
}

MessageLog::WallTime Conversation::wall_time() const {
    using std::chrono::system_clock;
    if (!showing_recorded()) return system_clock::now();
    return recording()->started() +
           std::chrono::duration_cast<system_clock::duration>(*recorded_at_);
}

// Adds a note and returns true if there is no target.
bool Conversation::refuse_without_target() {
    if (!connects()) add_note(no_target, Style::warn);
    return !connects();
}

// --- Events of the session.

void Conversation::changed(Side& side) {
    user_.conversation_changed();
    const State state = side.session.state();
    const bool opened = state == State::open && side.reported_state != State::open;
    report_state(side);
    side.reported_state = state;
    report_half_close(side);
    side.settled = side.settled || state == State::waiting || state == State::closed ||
                   state == State::open;
    if (opened && journal_) begin_file(side);
    if (can_send())
        for (const std::string& line : std::exchange(queued_lines_, {})) send(line);
    if (opened && quitting_) side.session.finish();
    const auto over = [&](const auto& each) {
        return (quitting_ || each->session.out_of_time()) &&
               (each->session.state() == State::closed || each->session.state() == State::idle);
    };
    if (std::all_of(sides_.begin(), sides_.end(), over)) loop_.stop();
}

// Reports a half-close by the server with Expect::none, because messages can still be sent.
// With any other expectation, the half-close ends the connection.
void Conversation::report_half_close(Side& side) {
    const Session& session = side.session;
    const bool ended = session.state() == State::open && session.peer_half_closed() &&
                       !session.options().listens();
    if (ended && !side.half_close_noted)
        add_side_note(side, "the server has shut down its sending side; you can still send",
                      Style::warn);
    side.half_close_noted = ended;
}

void Conversation::report_state(Side& side) {
    const Session& session = side.session;
    const State state = session.state();
    if (state == side.reported_state) return;
    const std::string end = explain(session.end(), session.tls());
    const Style end_style = exit_status(session.end()) != 0 ? Style::bad : Style::dim;
    if (session.options().listens()) return report_listening(side, end, end_style);
    if (state == State::open) {
        side.retried = !std::exchange(side.reported_trouble, {}).empty();
        if (session.peer_known())
            return add_side_note(side, "connected to " + session.address().text(), Style::good);
        if (session.end()) return;  // a refusal of datagrams was already reported
        add_side_note(side, "sending to " + session.options().target() +
                                "; only a reply shows that a server is there");
    }
    if (state == State::waiting && std::exchange(side.reported_trouble, end) != end)
        add_side_note(side, end + "; retrying; F5 retries now", Style::bad);
    if (state == State::closed) add_side_note(side, end, end_style);
}

void Conversation::report_listening(Side& side, const std::string& end, Style end_style) {
    const Session& session = side.session;
    const State state = session.state();
    if (side.reported_state == State::idle) add_note(session.options().listening_text());
    if (state == State::open)
        add_note("connection from " + session.address().text(), Style::good);
    if (state == State::waiting) add_note(end, end_style);
    if (state == State::closed) add_note(end, end_style);
}

// A replay repeats one connection, so each connection gets its own recording.
void Conversation::begin_file(const Side& side) {
    if (!journal_->complete(side.number)) return journal_->connected(side.number);
    stop_file();
    start_file();
}

// Counts an event, adds it to the journal if there is one, and marks the screen as changed.
void Conversation::record(Side& side, Fate fate, const Message* message, const Reply* reply) {
    user_.conversation_changed();
    Answer answer;
    if (message && reply)
        answer = {reply->right, message->late,    reply->round_trip,
                  false,        reply->reordered, reply->round_trip};
    if (showing_recorded()) return recorded_tally_.add(fate, answer, ev::Time(*recorded_at_));
    if (journal_) journal_->add(side.number, fate, message, reply, answer, loop_.now());
    side.tally.add(fate, answer, loop_.now());
}

void Conversation::answered(Side& side, const Message& message, const Reply& reply) {
    record(side, fate_of(message, reply), &message, &reply);
    const auto facts = side.session.tcp();
    const auto network = facts ? facts->min_rtt : std::nullopt;
    const auto pair = pair_of(side, message, &reply);
    log_.add_answer(wall_time(), message, reply, network, side.number, pair);
    if (!reply.right && side.results.bad == 1)
        if (const std::string hint =
                reply_hint(*side.session.options().framing, message.payload, reply);
            !hint.empty())
            add_side_note(side,
                          hint + (hint.find("--expect") == hint.npos ? "" : ", or F3 and x"),
                          Style::warn);
    if (!reply.round_trip) return;
    side.percentile_history.record(showing_recorded() ? ev::Time(*recorded_at_) : loop_.now(),
                                   *reply.round_trip);
    side.recent_round_trips.push_back(*reply.round_trip);
    if (side.recent_round_trips.size() > recent_count) side.recent_round_trips.pop_front();
}

// Compares the replies of two targets, and counts them.
std::optional<Pair> Conversation::pair_of(const Side& side, const Message& message,
                                          const Reply* reply) {
    if (!pairs_) return std::nullopt;
    auto pair = pairs_->pairing.add(side.number, 1, message, reply);
    if (pair) pairs_->results.count(pair->difference, pair->delay());
    return pair;
}

void Conversation::lost(Side& side, const Message& message) {
    record(side, Fate::lost, &message, nullptr);
    pair_of(side, message, nullptr);
    const Session& session = side.session;
    const std::string part = message.late ? session.partial_reply_text(message) : "";
    const std::string when = message.late
                                 ? "after " + duration_text(session.options().reply_timeout)
                                 : "before the connection ended";
    log_.add_loss(wall_time(), message, "no reply " + when + (part.empty() ? "" : "; " + part),
                  side.number);
}

void Conversation::unsolicited(Side& side, std::string_view payload) {
    record(side, Fate::unsolicited, payload);
    const Session& session = side.session;
    if (!session.options().listens())
        return log_.add_unsolicited(wall_time(), payload, side.number);
    Reply reply{.payload = payload, .right = true};
    if (session.flushed_at() > session.state_since())
        reply.round_trip = loop_.now() - session.flushed_at();
    log_.add_answer(wall_time(), {}, reply, {});
}

void Conversation::duplicate(Side& side, std::string_view payload) {
    record(side, Fate::duplicate, payload);
    log_.add_duplicate(wall_time(), payload, side.number);
}

// --- Sending.

bool Conversation::any_open() const {
    return std::any_of(sides_.begin(), sides_.end(),
                       [](const auto& side) { return side->session.state() == State::open; });
}

// Waits at first for both targets, so that the first message goes to both.
bool Conversation::can_send() const {
    return any_open() && std::all_of(sides_.begin(), sides_.end(),
                                     [](const auto& side) { return side->settled; });
}

void Conversation::quit_when_answered() {
    if (!any_open()) return quit();
    quitting_ = true;
    for (const auto& side : sides_)
        if (side->session.state() == State::open)
            side->session.finish();
        else
            side->session.disconnect();
}

// The session reports the lost messages and then its end, from the loop. Then changed() stops
// the loop. A session that has already reported its end reports nothing more, so quit() stops
// the loop.
void Conversation::quit() {
    quitting_ = true;
    for (const auto& side : sides_) side->session.disconnect();
    const auto over = [](const auto& side) {
        const State state = side->session.state();
        const bool closed = side->reported_state == State::closed && state == State::closed;
        return closed || state == State::idle;
    };
    if (std::all_of(sides_.begin(), sides_.end(), over)) loop_.stop();
}

void Conversation::disconnect() {
    if (refuse_without_target()) return;
    quitting_ = false;
    for (const auto& side : sides_) side->session.disconnect();
}

// The session reports both calls as one change, so that the log shows only the new attempt. If
// only one of two targets is connected, reconnects the other.
void Conversation::reconnect() {
    if (refuse_without_target()) return;
    for (const auto& side : sides_) {
        const Session& session = side->session;
        const bool just_opened = session.state() == State::open &&
                                 loop_.now() - session.state_since() < reaction_time;
        if (std::exchange(side->retried, false) && just_opened)
            return add_note("just connected; press F5 again to reconnect", Style::warn);
    }
    quitting_ = false;
    const auto open = [](const auto& side) { return side->session.state() == State::open; };
    const bool all = std::all_of(sides_.begin(), sides_.end(), open);
    for (const auto& side : sides_) {
        if (open(side) && !all) continue;
        side->session.disconnect();
        side->session.connect();
    }
}

void Conversation::void_round_trips() {
    for (const auto& side : sides_) side->session.void_round_trips();
}

void Conversation::send(const std::string& line) {
    if (can_send()) return send_now(line);
    if (!connects()) return refuse(line, no_target);
    if (quitting_) return refuse(line, "not sent; yodel quits once all replies are in");
    queued_lines_.push_back(line);
    add_note("not connected; will be sent once connected: " + line, Style::warn);
}

void Conversation::send_now(const std::string& line) {
    const auto payload = options_.escapes ? unescaped(line) : line;
    if (!payload) return refuse(line, escapes_expected);
    if (std::exchange(rule_changed_, false)) add_note(rule_text() + " from here on");
    const auto pieces = [&](const Side& side) {
        return count_pieces(*side.session.options().framing, *payload);
    };
    if (pieces(first()) != pieces(*sides_.back()))
        return refuse(line, "not sent, because the targets differ in the number of messages");
    for (const auto& side : sides_) {
        const Session::Options& options = side->session.options();
        if (!is_sendable(*options.framing, options.max_frame, *payload))
            return refuse(line, "not sent: " + options.framing->misfit_text(payload->size(),
                                                                            options.max_frame));
    }
    for (const auto& side : sides_) send_to(*side, *payload);
}

// A target that is not connected misses the message, whose id is then used up.
void Conversation::send_to(Side& side, std::string_view payload) {
    Session& session = side.session;
    const QueuedIds queued = session.send(payload);
    const ev::Time now = loop_.now();
    std::uint64_t id = queued.first;
    for_each_piece(*session.options().framing, payload, [&](std::string_view piece) {
        if (!queued) id = session.reserve_id();
        const Message message{.id = id, .payload = piece, .planned = now, .sent = now};
        if (&side == &first()) log_.add_sent(wall_time(), id, piece);
        if (!queued) {
            record(side, Fate::unsent, &message, nullptr);
            pair_of(side, message, nullptr);
            log_.add_loss(wall_time(), message, "not connected", side.number);
        } else if (session.options().expect == Expect::none) {
            record(side, Fate::sent, &message, nullptr);
        }
        ++id;
    });
    side.results.count_sent(queued.count, now);
    session.flush();
}

void Conversation::refuse(const std::string& line, const std::string& why) {
    user_.line_refused(line);
    add_note(why, Style::warn);
}

// --- The file.

void Conversation::toggle_file() {
    if (refuse_without_target()) return;
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

// A transcript is appended to its file. Each recording needs a new one: x.json, x-2.json, ...
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
    std::vector<const Session*> sessions;
    for (const auto& side : sides_) sessions.push_back(&side->session);
    journal_.emplace(JournalFile(name), std::move(sessions), loop_.now());
    log_.write_to([this](auto, char sign, auto line) {
        if (!showing_recorded()) journal_->add_line(sign, line);
    });
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
