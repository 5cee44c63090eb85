#include "app/run/run.hpp"

#include "app/process/program.hpp"
#include "app/run/generated_source.hpp"
#include "app/run/sending_limits.hpp"
#include "ev/threads/loop_thread.hpp"

#include <chrono>
#include <utility>

namespace yodel {

namespace {

// Interval between reports of all threads.
constexpr ev::Duration report_time = std::chrono::milliseconds(100);

// Planned times begin this long after the last connection has settled, so that every thread is
// notified in time.
constexpr ev::Duration notice = std::chrono::milliseconds(1);

// Descriptors of each additional thread: for its loop and its mailbox.
constexpr std::size_t descriptors_per_thread = 4;

RunOptions completed(RunOptions options) {
    provide_descriptors(options.connections + (options.threads - 1) * descriptors_per_thread);
    if (options.source) return options;
    options.session.closed_early = "the server closed before the end of the run";
    options.session.greeting_time = generated_greeting_time;
    options.session.numbered =
        !options.messages && options.size >= GeneratedText::min_checked_size;
    options.session.max_time.reset();
    return options;
}

}  // namespace

// An additional thread with its lane. The members belong to the owner's thread before start()
// and after join().
class Run::Worker {
public:
    Worker(Run& owner, std::size_t thread)
        : owner_(owner),
          thread_(*owner.mailbox_),
          lane_(thread_.loop(), owner.options_, thread, owner.hooks(thread), nullptr) {}
    ~Worker() { join(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void start(bool busy) {
        thread_.start([this, busy] { thread_.loop().set_busy(busy && lane_.open() > 0); });
    }
    void join() { thread_.join(); }
    void post(const std::function<void(Lane&)>& call) {
        thread_.post([this, call] { call(lane_); });
    }

    // The report belongs to the thread from this call until the owner's reported() is called.
    void ask() {
        thread_.post([this] {
            update();
            owner_.mailbox_->post([&owner = owner_] { owner.reported(); });
        });
    }
    void update() { report_.take(lane_); }
    const Report& report() const { return report_; }

private:
    Run& owner_;
    ev::LoopThread thread_;
    Report report_;
    Lane lane_;
};

void Run::Report::take(const Lane& lane) {
    results = lane.results();
    open = lane.open();
}

// All workers are made before the first one starts, because making one may fail.
Run::Run(ev::Loop& loop, RunOptions options, std::function<void()> done, RunObserver* observer)
    : loop_(loop),
      options_(completed(std::move(options))),
      done_(std::move(done)),
      settled_(options_.threads),
      unsettled_(options_.threads),
      running_(options_.threads),
      first_(loop, options_, 0, hooks(0), observer) {
    if (options_.threads == 1) return;
    mailbox_.emplace(loop_);
    sum_ = std::make_unique<Report>();
    ask_ = ev::Timer(loop_, [this] { ask(); });
    ask_.start(report_time);
    for (std::size_t thread = 1; thread < options_.threads; ++thread)
        workers_.push_back(std::make_unique<Worker>(*this, thread));
    for (const auto& worker : workers_) worker->start(options_.busy);
}

Run::~Run() = default;

// A worker's lane calls on its own thread, so its calls are posted to the owner's.
Lane::Hooks Run::hooks(std::size_t thread) {
    if (thread == 0) return {[this] { settled(0); }, [this] { ended(0); }};
    const auto posted = [this, thread](auto call) {
        return [this, thread, call] {
            mailbox_->post([this, thread, call] { (this->*call)(thread); });
        };
    };
    return {posted(&Run::settled), posted(&Run::ended)};
}

void Run::for_each_lane(const std::function<void(Lane&)>& call) {
    for (const auto& worker : workers_) worker->post(call);
    call(first_);
}

// --- Beginning and end.

void Run::settled(std::size_t thread) {
    if (settled_[thread]) return;
    settled_[thread] = true;
    --unsettled_;
    if (begun_ || (options_.pace && unsettled_ > 0)) return;
    begun_ = true;
    // A handshake may have taken long in this turn.
    const ev::Time paced = loop_.read_clock() + (workers_.empty() ? ev::Duration{} : notice);
    const ev::Time time = options_.pace ? paced : loop_.now();
    for_each_lane([time](Lane& lane) { lane.begin_at(time); });
}

// A lane can end without having been ready, because the look-up may fail on its thread alone.
void Run::ended(std::size_t thread) {
    if (!workers_.empty()) settled(thread);
    if (--running_ > 0) return;
    ask_ = {};
    for (const auto& worker : workers_) worker->join();
    for (const auto& worker : workers_) worker->update();
    if (sum_) sum_up();
    done_();
}

// --- Reports.

void Run::ask() {
    asked_ = workers_.size();
    for (const auto& worker : workers_) worker->ask();
}

void Run::reported() {
    if (--asked_ > 0 || running_ == 0) return;
    sum_up();
    ask_.start(report_time);
}

void Run::sum_up() {
    sum_->take(first_);
    for (const auto& worker : workers_) {
        sum_->results.add(worker->report().results);
        sum_->open += worker->report().open;
    }
}

}  // namespace yodel
