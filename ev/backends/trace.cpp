#include "ev/backends/backends.hpp"

#include <cstdio>
#include <string>
#include <utility>

namespace ev {

namespace {

constexpr std::pair<Events, char> letters[] = {
    {readable, 'r'}, {writable, 'w'}, {hangup, 'h'}, {error, 'e'}};

std::string described(const Readiness& ready) {
    std::string text = " " + std::to_string(ready.registration->fd);
    for (const auto& [event, letter] : letters)
        if (ready.events & event) text += letter;
    return text;
}

class TraceBackend final : public Backend {
public:
    explicit TraceBackend(std::unique_ptr<Backend> traced) : traced_(std::move(traced)) {}

    void set(Registration& registration, Events interest) override {
        traced_->set(registration, interest);
    }

    void wait(Duration max_wait, std::vector<Readiness>& ready) override {
        using Milliseconds = std::chrono::duration<double, std::milli>;
        const auto start = Clock::now();
        traced_->wait(max_wait, ready);
        ++turns_;
        std::string text;
        for (const Readiness& each : ready) text += described(each);
        std::fprintf(stderr, "ev: turn %lu waited %.3f ms, ready:%s\n", turns_,
                     Milliseconds(Clock::now() - start).count(), text.c_str());
    }

private:
    const std::unique_ptr<Backend> traced_;
    unsigned long turns_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_trace_backend(std::unique_ptr<Backend> traced) {
    return std::make_unique<TraceBackend>(std::move(traced));
}

}  // namespace ev
