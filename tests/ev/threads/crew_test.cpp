#include "ev/threads/crew.hpp"

#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <set>
#include <thread>

using ev::Crew;

namespace {

struct Member {
    std::size_t thread = 0;
    ev::Mailbox* owner = nullptr;
    std::thread::id ran_in{};
};

std::unique_ptr<Member> make_member(ev::Loop&, std::size_t thread, ev::Mailbox* owner) {
    return std::make_unique<Member>(Member{thread, owner});
}

struct Threads {
    std::multiset<std::size_t> numbers;
    void add(const Threads& other) {
        numbers.insert(other.numbers.begin(), other.numbers.end());
    }
};

Threads number_of(const Member& member) { return {{member.thread}}; }

}  // namespace

TEST_CASE("a crew has one object a thread, and the first is on the owner's loop") {
    ev::Loop loop;
    Crew<Member> crew(loop, 3, make_member);
    CHECK_FALSE(crew.single_threaded());
    CHECK(crew.first().owner == nullptr);
    crew.start();
    crew.post_to_each([](Member& member) { member.ran_in = std::this_thread::get_id(); });
    CHECK(crew.first().ran_in == std::this_thread::get_id());
    crew.join();
    std::set<std::thread::id> ids;
    crew.for_each_on_caller([&](const Member& member) {
        CHECK((member.thread == 0) == (member.owner == nullptr));
        ids.insert(member.ran_in);
    });
    CHECK(ids.size() == 3);
    CHECK(ids.count(std::thread::id()) == 0);
}

TEST_CASE("a crew calls back with the sum over its threads, once, from the owner's loop") {
    ev::Loop loop;
    Crew<Member> crew(loop, 4, make_member);
    crew.start();
    int calls = 0;
    crew.gather<Threads>(number_of, [&](const Threads& sum) {
        ++calls;
        CHECK(sum.numbers == std::multiset<std::size_t>{0, 1, 2, 3});
        loop.stop();
    });
    CHECK(calls == 0);
    loop.run();
    CHECK(calls == 1);
}

TEST_CASE("a crew of one needs no thread and no mailbox") {
    ev::Loop loop;
    Crew<Member> crew(loop, 1, make_member);
    CHECK(crew.single_threaded());
    crew.start();
    int calls = 0;
    crew.gather<Threads>(number_of, [&](const Threads& sum) {
        ++calls;
        CHECK(sum.numbers == std::multiset<std::size_t>{0});
    });
    CHECK(calls == 1);
}

TEST_CASE("a crew may be destroyed while its threads answer") {
    ev::Loop loop;
    for (int i = 0; i < 20; ++i) {
        Crew<Member> crew(loop, 3, make_member);
        crew.start();
        crew.gather<Threads>(number_of, [](const Threads&) { FAIL("the crew is gone"); });
    }
}
