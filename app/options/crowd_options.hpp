// The options of yodel for many conversations at once.
#pragma once

#include "app/options/command_line.hpp"
#include "app/stats/requirement.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace yodel {

struct CrowdOptions {
    std::optional<unsigned> connections;
    std::optional<std::uint64_t> connect_rate;  // thousandths of connections a second
    std::optional<std::uint64_t> rate;          // thousandths of messages a second
    std::optional<Requirement> rate_while;      // look for the highest rate at which it holds
    std::optional<unsigned> churn;              // messages
    std::optional<std::chrono::system_clock::time_point> start;
    std::optional<std::size_t> threads;
    bool threads_by_system = false;  // `auto`: no more than can be used

    // Any of these options makes a crowd, of one connection where the number is not given.
    bool given() const {
        return connections || connect_rate || scheduled() || churn || start || threads;
    }
    // Messages are sent at a rate.
    bool scheduled() const { return rate || rate_while; }
};

std::vector<Option> crowd_options(CrowdOptions& to);

}  // namespace yodel
