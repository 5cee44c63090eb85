#include "app/run/run.hpp"

#include "app/process/program.hpp"

#include <chrono>
#include <utility>

namespace yodel {

namespace {

// Interval between reports of all threads.
constexpr ev::Duration report_interval = std::chrono::milliseconds(100);

// With several threads, delay of the first planned time after the last connection has settled,
// so that every thread is notified in time.
constexpr ev::Duration start_notice = std::chrono::milliseconds(1);

// Number of descriptors that an additional thread needs for its loop and its mailbox.
constexpr std::size_t descriptors_per_thread = 4;

// Time in which the first reply of a connection may turn out to be a greeting. It is longer
// than in other runs, because nobody waits for the reply.
constexpr ev::Duration generated_greeting_time = std::chrono::seconds(2);

// Raises the descriptor limit. If connections share a source, also sets the options that such a
// run needs.
RunOptions prepared(RunOptions options) {
    provide_descriptors(options.connections + (options.threads - 1) * descriptors_per_thread);
    if (!options.shares_source()) return options;
    options.session.early_close = "closed before the end of the run";
    options.session.greeting_time = generated_greeting_time;
    options.session.has_numbers =
        options.generates() && options.size >= Generator::min_checked_size;
    options.session.max_time.reset();
    return options;
}

}  // namespace

// Makes all lanes before the first thread starts, because making one may fail. A lane on
// another thread posts its calls to the owner's thread.
Run::Run(ev::Loop& loop, RunOptions options, Lane::Owner* owner)
    : loop_(loop),
      options_(prepared(std::move(options))),
      unready_count_(options_.threads),
      running_count_(options_.threads),
      lanes_(loop, options_.threads,
             [this, owner](ev::Loop& own, std::size_t thread, ev::Mailbox* mailbox) {
                 const auto hook = [this, mailbox](void (Run::*call)()) {
                     const std::function<void()> called = [this, call] { (this->*call)(); };
                     return mailbox ? [mailbox, called] { mailbox->post(called); } : called;
                 };
                 return std::make_unique<Lane>(
                     own, options_, thread,
                     Lane::Hooks{timing_begins_at_, hook(&Run::lane_ready),
                                 hook(&Run::lane_ended), mailbox ? nullptr : owner});
             }) {
    if (!lanes_.is_single_threaded()) {
        sum_ = std::make_unique<RunResults>();
        report_timer_ = ev::Timer(loop, [this] { request_reports(); });
        report_timer_.start(report_interval);
        lanes_.start();
    }
    look_up();
}

// --- Beginning and end.

// Looks up the name once for all connections, on another thread if the network is needed. A
// single connection that is never replaced looks up the name itself, in each attempt.
void Run::look_up() {
    const bufio::Endpoint& endpoint = options_.session.endpoint;
    if (options_.connections == 1 && !options_.churns())
        return lanes_.first().connect(std::make_shared<Session::Options>(options_.session));
    const bufio::LookupResult local = bufio::resolve_without_network(endpoint);
    if (!local.addresses.empty() || !local.error.empty()) return looked_up(local);
    lookup_.emplace(loop_, endpoint, [this](const auto& result) { looked_up(result); });
}

void Run::looked_up(const bufio::LookupResult& result) {
    if (has_ended()) return;
    auto options = std::make_shared<Session::Options>(options_.session);
    bufio::Endpoint& endpoint = options->endpoint;
    if (result.addresses.empty())
        return lanes_.post_to_each(
            [end = bufio::End{bufio::Reason::lookup, bufio::By::system, "cannot resolve",
                              endpoint.dialed().text() + ": " + result.error}](Lane& lane) {
                lane.fail(end);
            });
    endpoint.known_addresses =
        std::make_shared<const std::vector<bufio::Address>>(result.addresses);
    lanes_.post_to_each([options](Lane& lane) { lane.connect(options); });
}

void Run::lane_ready() {
    // The open loop begins when the last thread is ready, the closed loop when the first is.
    if (--unready_count_ != (options_.pace ? 0 : options_.threads - 1)) return;
    ev::Time start = loop_.now();
    if (options_.pace) {
        start = loop_.read_clock();  // the loop's time may be old: a handshake can take long
        if (!lanes_.is_single_threaded()) start += start_notice;
    }
    lanes_.post_to_each([start](Lane& lane) { lane.begin_at(start); });
}

void Run::lane_ended() {
    if (--running_count_ > 0) return;
    report_timer_ = {};
    lookup_.reset();
    lanes_.join();
    if (!sum_) return;
    *sum_ = {};
    lanes_.for_each_on_this_thread([this](const Lane& lane) { sum_->add(lane.results()); });
}

// Requests a report from each lane, and starts the timer for the next reports when all have
// arrived. Reports omit the steps of a climb and the samples, because copying many of them
// would delay the lane.
void Run::request_reports() {
    lanes_.gather<RunResults>(
        [](const Lane& lane) {
            RunResults report;
            report.Results::add(lane.results());
            report.warm_up.add(lane.results().warm_up);
            return report;
        },
        [this](const RunResults& sum) {
            if (running_count_ == 0) return;
            *sum_ = sum;
            report_timer_.start(report_interval);
        });
}

}  // namespace yodel
