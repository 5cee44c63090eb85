// Any file is either read as a recording, or refused with a sentence that names a line.
#include "app/stats/recording.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string_view>

using namespace yodel;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    const RecordingUse use{.is_replay = data[0] % 2 == 0, .max_frame = 100};
    Recording recording{.name = "f"};
    parse_recording(recording, text, use);
    assert(recording.trouble.text.empty() || recording.trouble.text.starts_with("f:"));
    for (const StoredEvent& event : recording.events) {
        assert(event->at >= ev::Time{});
        if (use.is_replay && event->fate == Fate::sent)
            assert(is_sendable(*recording.framing, use.max_frame, event->message.payload));
    }
    assert(!recording.framing ||
           std::is_sorted(recording.events.begin(), recording.events.end(),
                          [](const auto& a, const auto& b) { return a->at < b->at; }));
    return 0;
}
