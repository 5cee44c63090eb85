// Compares the queue of messages in flight with a model, a list of single messages.

#include "app/protocol/in_flight.hpp"

#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"

#include <random>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

class Twins {
public:
    Twins(bool coalesce, unsigned seed)
        : queue_(*find_framing("line"), {.coalesce = coalesce}),
          coalesce_(coalesce),
          random_(seed) {}

    void operate() {
        now_ += 1ms;
        switch (below(8)) {
        case 0:
        case 1: return queue();
        case 2: return flush();
        case 3:
        case 4: return stamp();
        case 5: return take();
        case 6: return take_within();
        default: return below(8) == 0 ? rebase() : mark_oldest_late();
        }
    }

    void check() {
        REQUIRE(queue_.count() == model_.size());
        REQUIRE(queue_.late() == late_);
        REQUIRE(queue_.in_flight() == model_.size() - late_);
        std::string bytes;
        for (std::size_t i = late_; i < model_.size(); ++i) bytes += model_[i].text + "\n";
        REQUIRE(queue_.in_flight_bytes() == bytes.size());
        REQUIRE(queue_.frames().ends_with(bytes));
        REQUIRE(queue_.all_written() == (stamped_ == model_.size()));
        REQUIRE(queue_.written() == std::max(stamped_, late_));
    }

private:
    struct Twin {
        std::uint64_t id;
        std::string text;
        ev::Time sent{};
    };

    void queue() {
        std::string lines;
        for (auto left = 1 + below(4); left > 0; --left) {
            const auto letter = static_cast<char>('a' + static_cast<char>(below(2)));
            model_.push_back({++last_id_, std::string(below(3), letter)});
            lines += model_.back().text + "\n";
        }
        lines.pop_back();
        queue_.queue(lines);
        REQUIRE(queue_.last_id() == last_id_);
    }

    void flush() {
        std::string fresh;
        for (; flushed_ < model_.size(); ++flushed_) {
            model_[flushed_].sent = now_;
            fresh += model_[flushed_].text + "\n";
        }
        REQUIRE(queue_.flushed() == fresh.empty());
        REQUIRE(queue_.flush(now_) == fresh);
        REQUIRE(queue_.flushed());
    }

    // Lets the system accept some more of the flushed bytes.
    void stamp() {
        const std::uint64_t all = gone_ + size(0, flushed_);
        written_ += below(static_cast<std::size_t>(std::max(all, written_) - written_) + 1);
        for (; stamped_ < flushed_ && gone_ + size(0, stamped_ + 1) <= written_; ++stamped_)
            model_[stamped_].sent = now_;
        queue_.record_written(written_, now_);
    }

    void take() {
        if (flushed_ == 0) return;
        const std::string text = model_[0].text;
        REQUIRE(queue_.oldest().payload.substr(0, text.size()) == text);
        compare(queue_.remove_oldest());
        REQUIRE(queue_.equals_last_removed(text));
        REQUIRE_FALSE(queue_.equals_last_removed(text + "x"));
    }

    void take_within() {
        std::size_t left = below(size(0, flushed_) + 1);
        while (queue_.split_within(left)) {
            REQUIRE(size(0, 1) <= left);
            const Batch batch = queue_.remove_within();
            REQUIRE((coalesce_ || batch.count == 1));
            const std::string last = model_[batch.count - 1].text;
            left -= batch.frames.size();
            compare(batch);
            if (below(2) == 0) queue_.release_all_but_last();
            if (batch.count == 1) REQUIRE(queue_.equals_last_removed(last));
        }
        REQUIRE((model_.empty() || size(0, 1) > left));
    }

    void compare(const Message& message) {
        const std::string frame = model_[0].text + "\n";
        REQUIRE(message.payload == model_[0].text);
        compare({message, 1, frame});
    }

    // Compares a batch with the oldest messages of the model.
    void compare(const Batch& batch) {
        REQUIRE(batch.first.id == model_[0].id);
        REQUIRE(batch.first.late == (late_ > 0));
        REQUIRE((batch.count == 1 || late_ == 0));
        std::string frames;
        for (std::size_t i = 0; i < batch.count; ++i) {
            REQUIRE(batch.first.sent == model_[i].sent);
            frames += model_[i].text + "\n";
        }
        REQUIRE(batch.frames == frames);
        gone_ += size(0, batch.count);
        model_.erase(model_.begin(), model_.begin() + static_cast<std::ptrdiff_t>(batch.count));
        flushed_ -= batch.count;
        stamped_ -= std::min(stamped_, batch.count);
        late_ -= std::min(late_, batch.count);
    }

    void mark_oldest_late() {
        if (late_ == flushed_) return;
        REQUIRE(queue_.oldest_sent_at() == model_[late_].sent);
        const Message message = queue_.mark_oldest_late();
        REQUIRE(message.id == model_[late_].id);
        REQUIRE(message.payload == model_[late_].text);
        ++late_;
    }

    void rebase() {
        while (queue_.written() > 0) take();
        queue_.rebase();
        flushed_ = 0;
        gone_ = written_ = 0;
        for (Twin& twin : model_) twin.sent = {};
        const auto text = std::string(below(3), 'a');
        const auto found = std::find_if(model_.begin(), model_.end(),
                                        [&](const Twin& twin) { return twin.text == text; });
        const auto place = queue_.find(text);
        REQUIRE(place.has_value() == (found != model_.end()));
        if (place) REQUIRE(*place == static_cast<std::size_t>(found - model_.begin()));
    }

    std::size_t size(std::size_t begin, std::size_t end) const {
        std::size_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += model_[i].text.size() + 1;
        return sum;
    }
    std::size_t below(std::size_t limit) { return random_() % limit; }

    InFlight queue_;
    bool coalesce_;
    std::mt19937 random_;
    std::vector<Twin> model_;
    std::uint64_t last_id_ = 0;
    std::size_t flushed_ = 0;    // messages
    std::size_t stamped_ = 0;    // messages that the system has accepted
    std::size_t late_ = 0;       // messages
    std::uint64_t gone_ = 0;     // bytes removed on this connection
    std::uint64_t written_ = 0;  // bytes accepted by the system on this connection
    ev::Time now_{};
};

}  // namespace

TEST_CASE("keeps messages as a list does, coalesced or one by one") {
    const bool coalesce = GENERATE(false, true);
    const unsigned seed = GENERATE(range(0U, 20U));
    Twins twins(coalesce, seed);
    for (int left = 500; left > 0; --left) {
        twins.operate();
        twins.check();
    }
}

TEST_CASE("forgets messages that expect no reply once they are sent") {
    InFlight queue(*find_framing("line"), {.expected = false});
    queue.queue("a\nb");
    CHECK(queue.last_id() == 2);
    CHECK(queue.count() == 0);
    CHECK(queue.flush(ev::Time{}) == "a\nb\n");
    queue.release_removed();
    CHECK(queue.frames().empty());
}

TEST_CASE("a message that is answered before it is written stays unwritten") {
    InFlight queue(*find_framing("line"), {});
    queue.queue("a");
    CHECK(queue.remove_oldest().payload == "a");
    queue.release_removed();
    queue.queue("b");
    CHECK(queue.flush(ev::Time{}) == "b\n");
}

TEST_CASE("encloses messages in the frames of each framing") {
    const auto [name, frames] =
        GENERATE(table<const char*, std::string>({{"line", "a\nbc\n"},
                                                  {"crlf", "a\r\nbc\r\n"},
                                                  {"len2", std::string("\0\1a\0\2bc", 7)},
                                                  {"caret", "^a$^bc$"},
                                                  {"raw", "abc"}}));
    InFlight queue(*find_framing(name), {.coalesce = true});
    queue.queue("a");
    queue.queue("bc");
    CHECK(queue.flush(ev::Time{} + 1ms) == frames);
    CHECK(queue.remove_oldest().payload == "a");
    const Message second = queue.remove_oldest();
    CHECK(second.payload == "bc");
    CHECK(second.id == 2);
    CHECK(queue.count() == 0);
}

TEST_CASE("forgets late messages beyond their limit, the oldest first") {
    const auto late = [](std::uint32_t late_bytes, int count) {
        InFlight queue(*find_framing("line"), {.max_late_bytes = late_bytes});
        for (int i = 0; i < count; ++i) queue.queue(std::to_string(i % 10));
        for (int i = 0; i < count; ++i)
            CHECK(queue.mark_oldest_late().payload == std::to_string(i % 10));
        CHECK(queue.count() == queue.late());
        CHECK(queue.late_evicted() == (queue.late() < static_cast<std::size_t>(count)));
        int evicted = 0;
        while (queue.match_evicted()) ++evicted;
        CHECK(queue.late() + static_cast<std::size_t>(evicted) ==
              static_cast<std::size_t>(count));
        return queue.late();
    };
    CHECK(late(0, 3) == 1);  // the newest message always stays
    // Finds the memory of a message, and then checks the limit at ten of them.
    std::uint32_t two = 0;
    while (late(two, 2) < 2) ++two;
    const std::uint32_t one = two / 2;
    CHECK(late(10 * one, 20) == 10);
    CHECK(late(10 * one - 1, 20) == 9);
    CHECK(late(10 * one, 10) == 10);
}

TEST_CASE("finds a payload among many, even if all are equal") {
    InFlight queue(*find_framing("line"), {});
    const int count = 20'000;
    for (int i = 0; i < count; ++i) queue.queue("same");
    queue.queue("other");
    for (int i = 0; i < count; ++i) {
        REQUIRE(queue.find("same") == std::size_t{0});
        queue.remove_oldest();
    }
    CHECK(queue.find("same") == std::nullopt);
    CHECK(queue.find("other") == std::size_t{0});
}

TEST_CASE("an idle queue keeps only a small last message") {
    for (const std::size_t size : {std::size_t{1}, std::size_t{2} << 20}) {
        InFlight queue(*find_framing("line"), {});
        const std::string text(size, 'x');
        queue.queue(text);
        queue.remove_oldest();
        queue.release_idle();
        CHECK(queue.equals_last_removed(text) == (size == 1));
    }
}

TEST_CASE("keeps the planned time of a message") {
    InFlight queue(*find_framing("line"), {});
    const ev::Time start{1s};
    queue.queue("planned", start);
    queue.queue("at once");
    queue.flush(start + 3ms);
    queue.record_written(~std::uint64_t{0}, start + 5ms);
    const Message planned = queue.remove_oldest();
    CHECK(planned.planned == start);
    CHECK(planned.sent == start + 5ms);
    CHECK(queue.remove_oldest().planned == start + 3ms);
}

TEST_CASE("allocates nothing while messages come and go") {
    const char* const framing = GENERATE("line", "crlf", "len4");
    InFlight queue(*find_framing(framing), {});
    const std::string text(64, 'x');
    const auto exchange = [&] {
        queue.queue(text);
        queue.flush(ev::Time{1s});
        queue.record_written(~std::uint64_t{0}, ev::Time{1s});
        queue.remove_oldest();
    };
    for (int i = 0; i < 10; ++i) exchange();
    test::allocations.count = 0;
    for (int i = 0; i < 1000; ++i) exchange();
    CHECK(test::allocations.count == 0);
}
