#include "app/protocol/contiguous_queue.hpp"

#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"

#include <deque>
#include <random>

using yodel::ContiguousQueue;

TEST_CASE("a contiguous queue behaves like a deque") {
    std::mt19937 random(7);
    ContiguousQueue<int> queue;
    std::deque<int> model;
    for (int step = 0; step < 20'000; ++step) {
        const unsigned choice = random() % 8;
        const std::size_t place = random() % (model.size() + 1);
        if (choice < 4) {
            CHECK(queue.push_back(step) == step);
            model.push_back(step);
        } else if (choice < 7 && !model.empty()) {
            CHECK(queue.front() == model.front());
            queue.pop_front();
            model.pop_front();
        } else if (choice == 7) {
            queue.insert(place, step);
            model.insert(model.begin() + static_cast<std::ptrdiff_t>(place), step);
        }
        REQUIRE(queue.size() == model.size());
        REQUIRE(std::equal(queue.begin(), queue.end(), model.begin(), model.end()));
        while (random() % 500 == 0 && !model.empty()) {
            queue.pop_front();
            model.pop_front();
        }
    }
}

TEST_CASE("a contiguous queue allocates nothing while it is empty or keeps its length") {
    test::allocations.count = 0;
    ContiguousQueue<int> queue;
    CHECK(test::allocations.count == 0);
    const int length = GENERATE(1, 2, 3, 7, 64);
    for (int i = 0; i < 3 * length; ++i) {
        queue.push_back(i);
        if (i >= length) queue.pop_front();
    }
    test::allocations.count = 0;
    for (int i = 0; i < 10'000; ++i) {
        queue.push_back(i);
        queue.pop_front();
    }
    CHECK(test::allocations.count == 0);
}

TEST_CASE("a contiguous queue frees most of its memory once it is empty") {
    ContiguousQueue<int> queue;
    for (int i = 0; i < 100'000; ++i) queue.push_back(i);
    while (!queue.empty()) queue.pop_front();
    CHECK(queue.capacity() == 0);
}

TEST_CASE("a contiguous queue accepts items that can only be moved") {
    ContiguousQueue<std::unique_ptr<int>> queue;
    for (int i = 0; i < 10; ++i) queue.push_back(std::make_unique<int>(i));
    for (int i = 0; i < 10; ++i) {
        const std::unique_ptr<int> item = std::move(queue.front());
        queue.pop_front();
        CHECK(*item == i);
    }
}
