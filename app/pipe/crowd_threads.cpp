#include "app/pipe/crowd_threads.hpp"

#include "ev/loop_thread.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

namespace yodel {

namespace {

// From one report of all threads to the next.
constexpr ev::Duration report_time = std::chrono::milliseconds(100);

// Planned times begin so much later than the last connection is there, so that every thread
// has heard of it by then.
constexpr ev::Duration notice = std::chrono::milliseconds(1);

// The descriptors of a further thread: those of its loop, and of the way to reach it.
constexpr std::size_t descriptors_of_thread = 4;

Crowd::Options with_threads(Crowd::Options options, std::size_t threads) {
    assert((threads == 1 || !options.script) && "a script is read by one thread");
    options.threads = threads;
    return options;
}

}  // namespace

std::size_t CrowdThreads::descriptors(std::size_t connections, std::size_t threads) {
    return connections + (threads - 1) * descriptors_of_thread;
}

// One of the further threads, with its crowd. What is declared here is of the owner's thread
// before start() and after join().
class CrowdThreads::Worker {
public:
    Worker(CrowdThreads& owner, std::size_t thread)
        : owner_(owner),
          thread_(*owner.mailbox_),
          crowd_(thread_.loop(), owner.part(thread), [&owner, thread] {
              owner.mailbox_->post([&owner, thread] { owner.ended(thread); });
          }) {}
    ~Worker() { join(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void start(bool busy) {
        thread_.start([this, busy] { thread_.loop().set_busy(busy && crowd_.open() > 0); });
    }
    void join() { thread_.join(); }
    void post(const std::function<void(Crowd&)>& call) {
        thread_.post([this, call] { call(crowd_); });
    }

    // The report is the thread's from here on, until the owner's reported() is called.
    void ask() {
        thread_.post([this] {
            update();
            owner_.mailbox_->post([&owner = owner_] { owner.reported(); });
        });
    }
    void update() { report_.take(crowd_, owner_.options_.recent); }
    const Report& report() const { return report_; }

private:
    CrowdThreads& owner_;
    ev::LoopThread thread_;
    Report report_;
    Crowd crowd_;
};

void CrowdThreads::Report::take(Crowd& crowd, bool with_recent) {
    result = crowd.result();
    if (with_recent) recent = crowd.take_recent();
    open = crowd.open();
}

void CrowdThreads::Report::add(const Report& other) {
    result.add(other.result);
    recent.add(other.recent);
    open += other.open;
}

CrowdThreads::CrowdThreads(ev::Loop& loop, Options options, std::function<void()> done,
                           Crowd::Observer* observer)
    : loop_(loop),
      options_(with_threads(std::move(options.crowd), options.threads)),
      done_(std::move(done)),
      settled_(options.threads),
      unsettled_(options.threads),
      running_(options.threads),
      crowd_(
          loop, part(0), [this] { ended(0); }, observer) {
    if (options.threads > 1) start_workers(options.threads, options.busy);
}

CrowdThreads::~CrowdThreads() = default;

Crowd::Options CrowdThreads::part(std::size_t thread) {
    Crowd::Options to = options_;
    to.thread = thread;
    if (to.threads == 1) return to;
    to.ready = [this, thread] { settled(thread); };
    if (thread > 0)
        to.ready = [this, thread] { mailbox_->post([this, thread] { settled(thread); }); };
    return to;
}

// All of them are made before the first one starts, because making one may fail.
void CrowdThreads::start_workers(std::size_t threads, bool busy) {
    mailbox_.emplace(loop_);
    sum_ = std::make_unique<Report>();
    ask_ = ev::Timer(loop_, [this] { ask(); });
    ask_.start(report_time);
    for (std::size_t thread = 1; thread < threads; ++thread)
        workers_.push_back(std::make_unique<Worker>(*this, thread));
    for (const auto& worker : workers_) worker->start(busy);
}

// --- Calls for all threads.

void CrowdThreads::of_all(const std::function<void(Crowd&)>& call) {
    for (const auto& worker : workers_) worker->post(call);
    call(crowd_);
}

void CrowdThreads::pause(bool paused) {
    of_all([paused](Crowd& crowd) { crowd.pause(paused); });
}

void CrowdThreads::finish() {
    of_all([](Crowd& crowd) { crowd.finish(); });
}

void CrowdThreads::leave() {
    of_all([](Crowd& crowd) { crowd.leave(); });
}

void CrowdThreads::void_round_trips() {
    of_all([](Crowd& crowd) { crowd.void_round_trips(); });
}

// --- They begin together.

void CrowdThreads::settled(std::size_t thread) {
    if (settled_[thread]) return;
    settled_[thread] = true;
    --unsettled_;
    if (!options_.pace || unsettled_ == 0) begin();
}

void CrowdThreads::begin() {
    if (std::exchange(begun_, true)) return;
    const ev::Time time = options_.pace ? loop_.after(notice) : loop_.now();
    of_all([time](Crowd& crowd) { crowd.begin_at(time); });
}

// --- They end one by one.

// A thread can end without having been ready: the look-up of the name may fail on it alone.
void CrowdThreads::ended(std::size_t thread) {
    if (!workers_.empty()) settled(thread);
    if (--running_ > 0) return;
    ask_ = {};
    for (const auto& worker : workers_) worker->join();
    for (const auto& worker : workers_) worker->update();
    if (sum_) sum_up();
    done_();
}

// --- They report.

void CrowdThreads::ask() {
    asked_ = workers_.size();
    for (const auto& worker : workers_) worker->ask();
}

void CrowdThreads::reported() {
    if (--asked_ > 0 || running_ == 0) return;
    sum_up();
    ask_.start(report_time);
}

void CrowdThreads::sum_up() {
    sum_->take(crowd_, options_.recent);
    for (const auto& worker : workers_) sum_->add(worker->report());
    recent_.add(sum_->recent);
}

Histogram CrowdThreads::take_recent() {
    return workers_.empty() ? crowd_.take_recent() : std::exchange(recent_, {});
}

}  // namespace yodel
