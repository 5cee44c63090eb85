// The queue of messages without a reply, and the obvious model side by side: a list in which
// each message stands alone.

#include "app/outstanding.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

class Twins {
public:
    Twins(bool together, unsigned seed)
        : queue_(*find_framing("line"), true, together), together_(together), random_(seed) {}

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
        default: return below(8) == 0 ? count_anew() : mark_late();
        }
    }

    void check() {
        REQUIRE(queue_.count() == model_.size());
        REQUIRE(queue_.late() == late_);
        REQUIRE(queue_.awaited() == model_.size() - late_);
        std::string bytes;
        for (std::size_t i = late_; i < model_.size(); ++i) bytes += model_[i].text + "\n";
        REQUIRE(queue_.awaited_bytes() == bytes.size());
        REQUIRE(queue_.frames().ends_with(bytes));
        REQUIRE(queue_.all_sent() == (stamped_ == model_.size()));
        REQUIRE(queue_.none_sent() == (stamped_ == 0 && late_ == 0));
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

    // The system takes some bytes more, of those flushed.
    void stamp() {
        const std::uint64_t all = gone_ + size(0, flushed_);
        written_ += below(static_cast<std::size_t>(std::max(all, written_) - written_) + 1);
        for (; stamped_ < flushed_ && gone_ + size(0, stamped_ + 1) <= written_; ++stamped_)
            model_[stamped_].sent = now_;
        queue_.stamp(written_, now_);
    }

    void take() {
        if (flushed_ == 0) return;
        const std::string text = model_[0].text;
        REQUIRE(queue_.oldest_payload().substr(0, text.size()) == text);
        compare(queue_.take(), 1);
        REQUIRE(queue_.taken_last(text));
        REQUIRE_FALSE(queue_.taken_last(text + "x"));
    }

    void take_within() {
        std::size_t left = below(size(0, flushed_) + 1);
        while (queue_.any_within(left)) {
            REQUIRE(size(0, 1) <= left);
            const Message message = queue_.take_group();
            REQUIRE((together_ || message.count == 1));
            const std::string last = model_[message.count - 1].text;
            left -= queue_.taken_bytes();
            compare(message, message.count);
            if (below(2) == 0) queue_.forget_taken_but_last();
            if (message.count == 1) REQUIRE(queue_.taken_last(last));
        }
        REQUIRE((model_.empty() || size(0, 1) > left));
    }

    // What was taken, as one, is what the oldest `count` of the model are.
    void compare(const Message& message, std::size_t count) {
        REQUIRE(message.count == count);
        REQUIRE(message.id == model_[0].id);
        REQUIRE(message.late == (late_ > 0));
        REQUIRE((count == 1 || late_ == 0));
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            REQUIRE(message.sent == model_[i].sent);
            text += (i == 0 ? "" : "\n") + model_[i].text;
        }
        REQUIRE(message.payload == text);
        gone_ += size(0, count);
        model_.erase(model_.begin(), model_.begin() + static_cast<std::ptrdiff_t>(count));
        flushed_ -= count;
        stamped_ -= std::min(stamped_, count);
        late_ -= std::min(late_, count);
    }

    void mark_late() {
        if (late_ == flushed_) return;
        REQUIRE(queue_.awaited_since() == model_[late_].sent);
        const Message message = queue_.mark_late();
        REQUIRE(message.id == model_[late_].id);
        REQUIRE(message.payload == model_[late_].text);
        ++late_;
    }

    void count_anew() {
        while (!queue_.none_sent()) take();
        queue_.count_anew();
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

    Outstanding queue_;
    bool together_;
    std::mt19937 random_;
    std::vector<Twin> model_;
    std::uint64_t last_id_ = 0;
    std::size_t flushed_ = 0;  // messages, as the next two
    std::size_t stamped_ = 0;
    std::size_t late_ = 0;
    std::uint64_t gone_ = 0;     // bytes of this connection, as the next
    std::uint64_t written_ = 0;  // by the system
    ev::Time now_{};
};

}  // namespace

TEST_CASE("in groups or one by one, messages fare as in a list") {
    const bool together = GENERATE(false, true);
    const unsigned seed = GENERATE(range(0U, 20U));
    Twins twins(together, seed);
    for (int left = 500; left > 0; --left) {
        twins.operate();
        twins.check();
    }
}

TEST_CASE("what expects no reply is sent and forgotten") {
    Outstanding queue(*find_framing("line"), false, false);
    queue.queue("a\nb");
    CHECK(queue.last_id() == 2);
    CHECK(queue.count() == 0);
    CHECK(queue.flush(ev::Time{}) == "a\nb\n");
    queue.forget_taken();
    CHECK(queue.frames().empty());
}

TEST_CASE("what is answered before it goes out does not go out") {
    Outstanding queue(*find_framing("line"), true, false);
    queue.queue("a");
    CHECK(queue.take().payload == "a");
    queue.forget_taken();
    queue.queue("b");
    CHECK(queue.flush(ev::Time{}) == "b\n");
}

TEST_CASE("each framing puts its own frames around the same messages") {
    const auto [name, frames] =
        GENERATE(table<const char*, std::string>({{"line", "a\nbc\n"},
                                                  {"crlf", "a\r\nbc\r\n"},
                                                  {"len2", std::string("\0\1a\0\2bc", 7)},
                                                  {"caret", "^a$^bc$"},
                                                  {"raw", "abc"}}));
    Outstanding queue(*find_framing(name), true, true);
    queue.queue("a");
    queue.queue("bc");
    CHECK(queue.flush(ev::Time{} + 1ms) == frames);
    CHECK(queue.take().payload == "a");
    const Message second = queue.take();
    CHECK(second.payload == "bc");
    CHECK(second.id == 2);
    CHECK(queue.count() == 0);
}
