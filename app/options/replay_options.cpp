#include "app/options/replay_options.hpp"

namespace yodel {

std::vector<Option> replay_options(ReplayOptions& to) {
    return {
        {.name = "payload",
         .help = "with --json: payloads too, which makes a recording",
         .apply = [&](auto&) { to.payload = true; }},
        {.name = "replay",
         .argument = "FILE",
         .help = "say a recording again, require its replies",
         .apply = [&](auto& text) { to.file = text; }},
        {.name = "fast",
         .help = "with --replay: as replies come, not at its times",
         .apply = [&](auto&) { to.fast = true; }},
    };
}

}  // namespace yodel
