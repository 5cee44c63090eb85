#include "ev/timer_queue.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"

#include <random>

using namespace std::chrono_literals;
using ev::Time;
using ev::TimerQueue;

namespace {

Time at(ev::Duration since_start) { return Time{} + since_start; }

ev::Duration ns(std::size_t count) {
    return ev::Duration(static_cast<ev::Duration::rep>(count));
}

// Returns the number of operations of a random test: only a percentage of `usual` on slow
// machines.
int steps(int usual) {
#ifdef YODEL_INSTRUMENTED
    const char* const all = "25";
#else
    const char* const all = "100";
#endif
    const char* const percent = std::getenv("YODEL_TEST_PERCENT");
    return usual / 100 * std::atoi(percent ? percent : all);
}

// Compares the queue with a model: an ordered map in which equal deadlines keep their order of
// insertion.
class Twins {
public:
    explicit Twins(std::size_t population) : timers_(population) {}

    void operate() {
        Twin& timer = timers_[below(timers_.size())];
        switch (below(8)) {
        case 0: return cancel(timer);
        case 1:
            cancel(timer);
            timer.item = std::make_unique<TimerQueue::Item>();
            return;
        case 2:
        case 3: return start(timer, timer.item->deadline() + ns(below(20)));
        default: return start(timer, now_ + ns(below(50)) - 10ns);
        }
    }

    void turn() {
        now_ += ns(below(12));
        turn_ = operations_;
        const auto next = queue_.begin_turn();
        require(queue_.empty() == model_.empty(), "is empty");
        require(model_.empty() || next <= model_.begin()->first.first, "has a first deadline");
        while (auto* const fired = queue_.pop_due(now_)) {
            const auto expected = due();
            require(expected != model_.end(), "has a due timer");
            require(fired == expected->second->item.get(), "returns the first timer");
            require(!fired->pending(), "returns a timer that is no longer pending");
            forget(*expected->second);
            for (auto left = below(3); left > 0; --left) operate();
        }
        require(due() == model_.end(), "returns all timers that are due");
        const auto later = queue_.begin_turn();
        require(queue_.empty() == model_.empty(), "is empty after a turn");
        // The deadline returned by begin_turn() causes no needless turn.
        require(model_.empty() || later > now_ || model_.begin()->first.first <= now_,
                "sleeps");
    }

    void finish() {
        for (Twin& timer : timers_) cancel(timer);
        CHECK(queue_.begin_turn() == Time::max());
        CHECK(queue_.empty());
    }

    std::size_t below(std::size_t limit) { return random_() % limit; }

private:
    using Place = std::pair<Time, int>;  // the deadline, and the number of the operation
    struct Twin {
        std::unique_ptr<TimerQueue::Item> item = std::make_unique<TimerQueue::Item>();
        std::optional<Place> place = {};  // none if it is not pending
    };

    // REQUIRE would take most of the time.
    static void require(bool agrees, const char* what) {
        if (!agrees) FAIL("disagrees: " << what);
    }

    void start(Twin& timer, Time deadline) {
        forget(timer);
        timer.place = Place(deadline, ++operations_);
        model_[*timer.place] = &timer;
        queue_.start(*timer.item, deadline);
        require(timer.item->deadline() == deadline, "keeps a deadline");
        require(timer.item->pending(), "has started a timer");
    }

    void cancel(Twin& timer) {
        require(timer.item->pending() == timer.place.has_value(), "knows the pending timers");
        forget(timer);
        queue_.remove(*timer.item);
        require(!timer.item->pending(), "cancels a timer");
    }

    void forget(Twin& timer) {
        if (timer.place) model_.erase(*std::exchange(timer.place, {}));
    }

    // Returns the first timer that is due and was started before the turn.
    std::map<Place, Twin*>::iterator due() {
        const auto late = model_.upper_bound({now_, operations_});
        const auto first = std::find_if(model_.begin(), late, [&](const auto& entry) {
            return entry.first.second <= turn_;
        });
        return first == late ? model_.end() : first;
    }

    std::mt19937 random_{2026};
    TimerQueue queue_;
    std::map<Place, Twin*> model_;
    std::vector<Twin> timers_;
    Time now_ = at(1h);
    int operations_ = 0;
    int turn_ = 0;  // the last operation before the current turn
};

}  // namespace

TEST_CASE("the queue agrees with an ordered multimap", "[queue]") {
    const auto [population, burst, count] = GENERATE(table<std::size_t, std::size_t, int>(
        {{1, 2, 50'000}, {4, 3, 200'000}, {60, 30, 350'000}, {3000, 1500, 400'000}}));
    Twins twins(population);
    for (int left = steps(count); left > 0;) {
        auto operations = static_cast<int>(twins.below(burst)) + 1;
        left -= operations;
        while (operations-- > 0) twins.operate();
        twins.turn();
    }
    twins.finish();
}

TEST_CASE("entries of destroyed and restarted timers do not pile up", "[queue]") {
    TimerQueue queue;
    TimerQueue::Item earlier;
    const int often = GENERATE(1, 10, 1'000'000);
    test::allocations.largest = 0;
    for (int left = steps(100'000); left > 0; --left) {
        TimerQueue::Item other;
        queue.start(other, at(1h));
        queue.start(earlier, at(left * 1us));
        if (left % often == 0) queue.begin_turn();
        queue.remove(other);
    }
    CHECK(test::allocations.largest < 10'000);
    queue.begin_turn();
    CHECK(queue.pop_due(at(2h)) == &earlier);
    CHECK(queue.pop_due(at(2h)) == nullptr);
}
