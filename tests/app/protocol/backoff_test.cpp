#include "app/protocol/backoff.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("doubles the waits up to half a minute, each shortened by at most half") {
    Backoff backoff(500ms, 1);
    for (const ev::Duration whole :
         {500ms, 1000ms, 2000ms, 4000ms, 8000ms, 16000ms, 30000ms, 30000ms}) {
        const ev::Duration wait = backoff.next();
        CHECK(wait >= whole / 2);
        CHECK(wait <= whole);
    }
    CHECK(backoff.count() == 8);
    backoff.reset();
    CHECK(backoff.count() == 0);
    CHECK(backoff.next() <= 500ms);
}

TEST_CASE("keeps a first wait above the longest, and a first wait of zero") {
    Backoff patient(60s, 1);
    patient.next();
    CHECK(patient.next() >= 30s);
    Backoff eager(0s, 1);
    eager.next();
    CHECK(eager.next() == 0s);
}

TEST_CASE("makes two clients that start together wait differently") {
    Backoff one(1s, 1);
    Backoff other(1s, 2);
    CHECK(one.next() != other.next());
}
