#include "app/run/run.hpp"

#include "app/process/program.hpp"

#include <chrono>
#include <utility>

namespace yodel {

namespace {

// Interval between reports of all threads.
constexpr ev::Duration report_interval = std::chrono::milliseconds(100);

// Delay of the first planned time after the last connection has settled, so that every thread
// is notified in time.
constexpr ev::Duration start_notice = std::chrono::milliseconds(1);

// Descriptors that each additional thread needs for its loop and its mailbox.
constexpr std::size_t descriptors_per_thread = 4;

// Time in which the first reply of a connection may turn out to be a greeting. It is longer
// than in other runs, because nobody waits for the reply.
constexpr ev::Duration generated_greeting_time = std::chrono::seconds(2);

RunOptions completed(RunOptions options) {
    provide_descriptors(options.connections + (options.threads - 1) * descriptors_per_thread);
    if (options.source) return options;
    options.session.early_close = "closed before the end of the run";
    options.session.greeting_time = generated_greeting_time;
    options.session.numbered =
        options.generates() && options.size >= Generator::min_checked_size;
    options.session.max_time.reset();
    return options;
}

}  // namespace

// Makes all lanes before the first thread starts, because making one may fail.
Run::Run(ev::Loop& loop, RunOptions options, std::function<void()> done, Lane::Owner* owner)
    : loop_(loop),
      options_(completed(std::move(options))),
      done_(std::move(done)),
      settled_(options_.threads),
      unsettled_(options_.threads),
      running_(options_.threads),
      lanes_(loop, options_.threads,
             [this, owner](ev::Loop& own, std::size_t thread, ev::Mailbox* mailbox) {
                 return std::make_unique<Lane>(own, options_, thread, hooks(thread, mailbox),
                                               mailbox ? nullptr : owner);
             }) {
    if (lanes_.single_threaded()) return;
    sum_ = std::make_unique<Report>();
    report_timer_ = ev::Timer(loop, [this] { request_reports(); });
    report_timer_.start(report_interval);
    lanes_.start();
}

Run::~Run() = default;

// The hooks of a lane on another thread post to the owner's thread.
Lane::Hooks Run::hooks(std::size_t thread, ev::Mailbox* owner_mailbox) {
    const auto hook = [this, thread, owner_mailbox](auto call) -> std::function<void()> {
        const auto called = [this, thread, call] { (this->*call)(thread); };
        if (!owner_mailbox) return called;
        return [owner_mailbox, called] { owner_mailbox->post(called); };
    };
    return {hook(&Run::settled), hook(&Run::ended)};
}

// --- Beginning and end.

void Run::settled(std::size_t thread) {
    if (settled_[thread]) return;
    settled_[thread] = true;
    --unsettled_;
    if (begun_ || (options_.pace && unsettled_ > 0)) return;
    begun_ = true;
    ev::Time start = loop_.now();
    if (options_.pace) {
        start = loop_.read_clock();  // the loop's time may be old: a handshake can take long
        if (!lanes_.single_threaded()) start += start_notice;
    }
    lanes_.post_to_each([start](Lane& lane) { lane.begin_at(start); });
}

// Settles a lane that was never ready, for example because the look-up failed on its thread.
void Run::ended(std::size_t thread) {
    if (!lanes_.single_threaded()) settled(thread);
    if (--running_ > 0) return;
    report_timer_ = {};
    lanes_.join();
    if (sum_) {
        *sum_ = {};
        lanes_.for_each_on_caller(
            [this](const Lane& lane) { sum_->results.add(lane.results()); });
    }
    done_();
}

// Requests the next reports once these have arrived.
void Run::request_reports() {
    lanes_.gather<Report>([](const Lane& lane) { return Report(lane); },
                          [this](const Report& sum) {
                              if (running_ == 0) return;
                              *sum_ = sum;
                              report_timer_.start(report_interval);
                          });
}

}  // namespace yodel
