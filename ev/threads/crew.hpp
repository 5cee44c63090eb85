// One object per thread. The first uses the owner's loop, the others their own threads' loops.
#pragma once

#include "ev/loop.hpp"
#include "ev/threads/loop_thread.hpp"
#include "ev/threads/mailbox.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ev {

template <class T>
class Crew {
public:
    // `thread_number` is 0 for the owner's thread. `owner_mailbox` posts tasks to the owner's
    // loop; it is null for the first object, which uses that loop itself.
    using Maker = std::function<std::unique_ptr<T>(Loop& loop, std::size_t thread_number,
                                                   Mailbox* owner_mailbox)>;

    // Throws std::system_error, and what `make` throws.
    Crew(Loop& loop, std::size_t thread_count, const Maker& make) {
        if (thread_count > 1) owner_mailbox_.emplace(loop);
        first_ = make(loop, 0, nullptr);
        for (std::size_t thread = 1; thread < thread_count; ++thread)
            workers_.push_back(std::make_unique<Worker>(*owner_mailbox_, thread, make));
    }

    // Starts the additional threads. The owner's loop rethrows their exceptions.
    void start() {
        for (const auto& worker : workers_) worker->thread.start();
    }
    // Ends the additional threads, and waits for them.
    void join() {
        for (const auto& worker : workers_) worker->thread.join();
    }

    T& first() const { return *first_; }
    bool is_single_threaded() const { return workers_.empty(); }

    // Calls `call` for each object on that object's thread, and for the first before returning.
    void post_to_each(const std::function<void(T&)>& call) {
        for (const auto& worker : workers_)
            worker->thread.post([call, &object = *worker->object] { call(object); });
        call(*first_);
    }
    // Calls `call` for each object, on the caller's thread. Allowed only before start() and
    // after join().
    template <class Call>
    void for_each_on_this_thread(const Call& call) const {
        call(*first_);
        for (const auto& worker : workers_) call(*worker->object);
    }
    // Calls `take` for each object on that object's thread, and adds the values by Sum::add().
    // Passes the sum to `done` from the owner's loop or, if single-threaded, before returning.
    template <class Sum>
    void gather(std::function<Sum(const T&)> take, std::function<void(const Sum&)> done) {
        auto sum = std::make_shared<Sum>(take(*first_));
        if (workers_.empty()) return done(*sum);
        auto remaining = std::make_shared<std::size_t>(workers_.size());
        const auto add = [sum, remaining, done = std::move(done)](const Sum& value) {
            sum->add(value);
            if (--*remaining == 0) done(*sum);
        };
        for (const auto& worker : workers_)
            worker->thread.post([this, take, add, &object = *worker->object] {
                owner_mailbox_->post([add, value = take(object)] { add(value); });
            });
    }

private:
    struct Worker {
        Worker(Mailbox& owner_mailbox, std::size_t number, const Maker& make)
            : thread(owner_mailbox), object(make(thread.loop(), number, &owner_mailbox)) {}
        ~Worker() { thread.join(); }
        Worker(const Worker&) = delete;

        LoopThread thread;
        std::unique_ptr<T> object;
    };

    std::optional<Mailbox> owner_mailbox_;  // empty with one thread
    std::unique_ptr<T> first_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace ev
