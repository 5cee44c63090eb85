#include "tests/e2e/programs.hpp"

#include <stdexcept>
#include <utility>

namespace test {

namespace {

std::vector<std::string> with_port(std::vector<std::string> arguments,
                                   const std::string& port) {
    for (std::string& argument : arguments)
        if (const auto at = argument.find("PORT"); at != std::string::npos)
            argument.replace(at, 4, port);
    return arguments;
}

}  // namespace

Peer::Peer(std::vector<std::string> arguments)
    : port_(std::to_string(free_port())),
      process_(std::make_unique<Process>(with_port(std::move(arguments), port_))) {
    if (!wait_for_listener(std::stoi(port_))) throw std::runtime_error(process_->errors());
}

}  // namespace test
