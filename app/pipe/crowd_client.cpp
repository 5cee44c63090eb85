#include "app/pipe/crowd_client.hpp"

#include "app/pipe/connection_report.hpp"
#include "app/pipe/crowd_line.hpp"
#include "app/pipe/descriptor_limit.hpp"
#include "app/pipe/sending_limits.hpp"
#include "app/protocol/message_object.hpp"
#include "app/stats/end_object.hpp"
#include "app/stats/hgrm.hpp"
#include "app/stats/summary.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/json.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace yodel {

namespace {

// Lines about connections, and differences from a recording, of which there may be any number.
constexpr std::size_t most_remarks = 1000;
constexpr std::size_t most_differences = 1000;

std::optional<Script> script(const CrowdClient::Options& options) {
    if (!options.script) return std::nullopt;
    const AnySession::Options& session = options.crowd.session;
    return Script({session.framing, session.max_frame, options.escapes});
}

const char* verdict_on(Replayer::Unsolicited kind) {
    if (kind == Replayer::Unsolicited::missing) return "missing";
    return kind == Replayer::Unsolicited::unrecorded ? "unrecorded" : "unsolicited";
}

std::optional<ReplayReport> replay_report(const CrowdClient::Options& options) {
    if (!options.crowd.recording) return std::nullopt;
    return ReplayReport(options.report.hex, options.crowd.session.reply_timeout);
}

}  // namespace

CrowdClient::CrowdClient(ev::Loop& loop, const Options& options)
    : loop_(loop),
      options_(options.report),
      target_(options.crowd.session.endpoint.text()),
      visible_(::isatty(STDOUT_FILENO) == 1),
      start_(loop.now()),
      output_(loop, STDOUT_FILENO, [this] { output_changed(); }),
      script_(script(options)),
      replay_(replay_report(options)),
      crowd_(
          loop, {crowd_options(options), options.threads, options.busy}, [this] { done(); },
          each_reported() || options_.verbose ? this : nullptr) {
    second_ = ev::Timer(loop, [this] { second_over(); });
    if (json() && !each_reported()) second_.start(std::chrono::seconds(1));
    if (!options_.hgrm.empty()) hgrm_.emplace(options_.hgrm);
    if (options_.payloads) {
        const AnySession::Options& session = options.crowd.session;
        const std::size_t count = options.crowd.connections;
        output_.append_line(recording_object(*session.framing, 1, count).str());
    }
    if (script_)
        input_ = ev::Watch(loop, STDIN_FILENO, ev::readable, [this](auto) { read_input(); });
    make_display(options);
}

void CrowdClient::make_display(const Options& options) {
    if (options.page) own_descriptors_ = used_descriptors();
    // Where replies are printed, the two would mix.
    const bool printing = (json() || each_reported()) && visible_;
    CrowdDisplay::User& user = *this;
    if (options.page) {
        display_ = options.page(user);
    } else if (::isatty(STDERR_FILENO) == 1 && !printing) {
        display_ = std::make_unique<CrowdLine>(loop_, user);
    }
}

Crowd::Options CrowdClient::crowd_options(const Options& options) const {
    Crowd::Options to = options.crowd;
    to.recent = options.page || (json() && !each_reported());
    to.script = script_ ? &*script_ : nullptr;
    if (options.start)
        to.start = start_ + std::chrono::duration_cast<ev::Duration>(
                                *options.start - std::chrono::system_clock::now());
    provide_descriptors(CrowdThreads::descriptors(to.connections, options.threads));
    return to;
}

// --- How it goes.

void CrowdClient::second_over() {
    output_.append_line(interval_text());
    second_.start_at(second_.deadline() + std::chrono::seconds(1));
    watch_output();
}

std::string CrowdClient::interval_text() {
    const Histogram recent = crowd_.take_recent();
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(second_.deadline() - start_);
    JsonObject object;
    object.text("type", "interval");
    object.number("t", static_cast<std::uint64_t>(seconds.count()));
    object.number("open", crowd_.open());
    add_counts(object, crowd_.result());
    if (recent.count() == 0) return object.str();
    JsonObject times;
    times.time("p50", recent.percentile(50)).time("p99", recent.percentile(99));
    return object.object("rtt_us", times).str();
}

CrowdProgress CrowdClient::progress() {
    const Results& result = crowd_.result();
    if (!begun_ && result.sent > 0) begun_ = loop_.now();
    CrowdProgress now{.result = result, .phase = phase(), .target = target_};
    now.connections = crowd_.options().connections;
    now.open = crowd_.open();
    if (crowd_.options().pace) now.planned_rate = crowd_.options().pace->rate();
    if (begun_) now.elapsed = loop_.now() - *begun_;
    now.length = crowd_.options().length;
    const auto& start = crowd_.options().start;
    if (start && *start > loop_.now()) now.until_start = *start - loop_.now();
    const std::uint64_t connecting =
        result.asked - std::min(result.asked, result.opened + result.failed);
    now.descriptors = own_descriptors_ + crowd_.open() + static_cast<std::size_t>(connecting);
    now.descriptor_limit = descriptor_limit();
    return now;
}

CrowdProgress::Phase CrowdClient::phase() const {
    if (crowd_.over()) return CrowdProgress::Phase::ending;
    return begun_ ? CrowdProgress::Phase::running : CrowdProgress::Phase::connecting;
}

void CrowdClient::turn_ended() {
    if (display_) display_->turn_ended();
}

void CrowdClient::continued() {
    crowd_.void_round_trips();
    if (display_) display_->continued();
}

// --- The script.

void CrowdClient::read_input() {
    char bytes[input_high_water];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count > 0) script_->append({bytes, static_cast<std::size_t>(count)});
    if (count <= 0) script_->end();
    if (count < 0)
        ending_.troubles.push_back(
            {input_failed, "standard input: " + std::generic_category().message(errno)});
    if (!script_->trouble().empty())
        ending_.troubles.push_back({reply_wrong_or_lost, script_->trouble()});
    if (script_->ended()) input_ = {};
    crowd_.script_changed();
}

void CrowdClient::opened(std::size_t connection, const AnySession& session) {
    if (options_.verbose) remark(connection, connection_text(session));
    if (!json() || !each_reported()) return;
    output_.append_line(connection_object(session, connection).str());
    watch_output();
}

void CrowdClient::ended(std::size_t connection, const AnySession& session) {
    if (options_.verbose) remark(connection, explain(session.end(), session.tls()));
}

void CrowdClient::remark(std::size_t connection, const std::string& text) {
    if (remarks_ > most_remarks || (display_ && !display_->make_way())) return;
    ++remarks_;
    print_error("yodel", remarks_ > most_remarks
                             ? "further connections are not reported"
                             : "connection " + std::to_string(connection) + ": " + text);
}

void CrowdClient::answered(std::size_t connection, const Message& message, const Reply& reply) {
    if (replay_) return answered_again(connection, message, reply);
    if (!script_) return;
    if (json()) add_message(connection, verdict_of(message, reply), &message, &reply);
    if (!json() && options_.verbose) add_line(connection, reply.payload);
}

void CrowdClient::lost(std::size_t connection, const Message& message) {
    if (replay_) return lost_again(connection, message);
    if (json() && script_) add_message(connection, "lost", &message, nullptr);
}

void CrowdClient::unsolicited(std::size_t connection, std::string_view payload) {
    if (!script_) return;
    const Reply reply{payload, {}, false, 0};
    if (json()) add_message(connection, "unsolicited", nullptr, &reply);
    if (!json() && options_.verbose) add_line(connection, payload);
}

void CrowdClient::add_message(std::size_t connection, const char* verdict,
                              const Message* message, const Reply* reply) {
    JsonObject object = options_.payloads
                            ? recorded_object(verdict, message, reply, start_, loop_.now())
                            : message_object(verdict, message, reply, start_);
    output_.append_line(object.number("connection", connection).str());
    watch_output();
}

void CrowdClient::add_line(std::size_t connection, std::string_view reply) {
    const std::string text = visible_ ? ui::printable(reply) : std::string(reply);
    output_.append_line(std::to_string(connection) + ": " + text);
    watch_output();
}

// --- The recording.

void CrowdClient::answered_again(std::size_t connection, const Message& message,
                                 const Reply& reply) {
    const char* const verdict = reply.right ? "as before" : "different";
    if (json())
        return add_message(connection, message.late ? "late" : verdict, &message, &reply);
    if (!reply.right) add_difference(connection, replay_->different(message, reply));
    if (reply.right && message.late)
        add_difference(connection, ReplayReport::late(message, reply));
}

// A message that got no reply when it was recorded is lost as before.
void CrowdClient::lost_again(std::size_t connection, const Message& message) {
    const bool as_before = !message.expected;
    if (json())
        return add_message(connection, as_before ? "as before" : "lost", &message, nullptr);
    if (!as_before) add_difference(connection, replay_->lost(message));
}

void CrowdClient::compared(std::size_t connection, Replayer::Unsolicited kind,
                           std::string_view payload) {
    using enum Replayer::Unsolicited;
    std::string text;
    if (kind == unrecorded) text = replay_->unrecorded(payload);
    if (kind == missing) text = replay_->missing(payload);
    const Reply reply{payload, {}, false, 0};
    if (json()) return add_message(connection, verdict_on(kind), nullptr, &reply);
    if (!text.empty()) add_difference(connection, text);
}

void CrowdClient::add_difference(std::size_t connection, const std::string& text) {
    if (differences_ > most_differences) return;
    ++differences_;
    output_.append(differences_ > most_differences
                       ? "further differences are not shown\n"
                       : "connection " + std::to_string(connection) + ": " + text);
    watch_output();
}

// --- The end.

void CrowdClient::leave(int signo) {
    ending_.signo = signo;
    crowd_.leave();
    if (result_) loop_.stop();
}

// The second ^C has the effect of the first one of a terminal in its usual mode.
void CrowdClient::interrupted() {
    if (interrupted_) std::raise(SIGINT);
    interrupted_ = true;
    crowd_.finish();
}

void CrowdClient::done() {
    second_.cancel();
    display_.reset();
    result_ = std::make_unique<Results>(crowd_.result());
    verdict_ = Verdict::on(*result_, options_.verdict);
    write_hgrm();
    if (json()) output_.append_line(end_text());
    watch_output();
}

void CrowdClient::write_hgrm() {
    if (!hgrm_) return;
    const std::string trouble = hgrm_->write(hgrm_text(result_->round_trips));
    if (!trouble.empty()) ending_.troubles.push_back({output_failed, trouble});
}

std::string CrowdClient::end_text() const {
    return end_object(*result_, reason(), status(), verdict_).str();
}

void CrowdClient::output_changed() {
    if (output_.error() != 0 && !result_) return crowd_.leave();
    if (output_.pending() > input_high_water) pause(true);
    if (output_.pending() < input_high_water / 4) pause(false);
    if (result_ && output_.done()) loop_.stop();
}

void CrowdClient::pause(bool paused) {
    if (paused == paused_) return;
    paused_ = paused;
    crowd_.pause(paused);
}

// Output that its reader does not take pauses the connections.
void CrowdClient::watch_output() {
    output_.flush();
    output_changed();
}

int CrowdClient::status() const {
    Ending ending = ending_;
    if (output_.error() != 0)
        ending.troubles.push_back({output_failed, "standard output: " + output_.error_text()});
    return exit_status(crowd_.result(), verdict_, ending);
}

std::string CrowdClient::reason() const {
    const auto& failures = crowd_.result().failures;
    return failures.empty() ? "closed" : failures.front().text;
}

int CrowdClient::report() {
    display_.reset();
    const Words words{.answered = crowd_.options().session.expect == Expect::any,
                      .load = true,
                      .verbose = options_.verbose,
                      .summary = !options_.quiet};
    Ending ending = ending_;
    if (output_.error() != 0)
        ending.troubles.push_back({output_failed, "standard output: " + output_.error_text()});
    for (const std::string& line : last_words(crowd_.result(), verdict_, ending, words))
        print_error("yodel", line);
    return status();
}

}  // namespace yodel
