// Standard input as the source of many connections: each sends all of its messages, in order.
// They are kept, because a connection that opens late begins with the first one.
#pragma once

#include "app/run/input.hpp"
#include "app/run/source.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace yodel {

class Script {
public:
    static constexpr std::size_t max_bytes = 256 * 1024 * 1024;  // with their overhead

    // `changed` is called from the loop when there are more messages, or no more will come.
    Script(ev::Loop& loop, Input::Options options, std::function<void()> changed);

    std::size_t size() const { return messages_.size(); }  // messages so far
    // Valid until the loop goes on.
    const std::string& message(std::size_t i) const { return messages_[i]; }
    bool ended() const { return input_.over(); }
    const SourceTrouble& trouble() const { return input_.trouble(); }

private:
    void read();

    const std::function<void()> changed_;
    std::vector<std::string> messages_;
    std::size_t bytes_ = 0;
    Input input_;
};

// One connection's way through a script, which outlives it.
class ScriptSource final : public Source {
public:
    explicit ScriptSource(const Script& script) : script_(script) {}

    std::optional<Outgoing> next() override {
        if (line_ == script_.size()) return std::nullopt;
        return Outgoing{.payload = script_.message(line_)};
    }
    void sent(const Outgoing&, Queued) override { ++line_; }
    bool over() const override { return script_.ended() && line_ == script_.size(); }
    // The trouble of a script is reported once, not for each connection.
    const SourceTrouble& trouble() const override { return none_; }

private:
    const SourceTrouble none_{};
    const Script& script_;
    std::size_t line_ = 0;  // the next one
};

}  // namespace yodel
