// Any file is either read as a recording or refused with a sentence that names a line, with
// the same result for any pieces.
#include "app/run/recording_reader.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string_view>

using namespace yodel;

namespace {

constexpr std::size_t max_frame = 100;

RecordingReader read(std::string_view text, std::size_t step) {
    RecordingReader reader("f", max_frame);
    while (!text.empty()) {
        const std::string_view piece = text.substr(0, step);
        reader.append(piece);
        text.remove_prefix(piece.size());
    }
    reader.end();
    return reader;
}

void check(RecordingReader& reader) {
    const std::string& trouble = reader.trouble();
    assert(trouble.empty() || trouble.starts_with("f:"));
    assert(reader.framing() || (!trouble.empty() && reader.items().empty()));
    for (const RecordedItem& item : reader.items()) {
        assert(item.at >= ev::Duration::zero());
        const bool message = item.kind == RecordedItem::Kind::message;
        if (message) assert(is_sendable(*reader.framing(), max_frame, item.payload));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    RecordingReader whole = read(text, text.npos);
    RecordingReader cut = read(text, 1 + data[0]);
    check(whole);
    assert(whole.trouble() == cut.trouble());
    assert(std::equal(whole.items().begin(), whole.items().end(), cut.items().begin(),
                      cut.items().end(), [](const RecordedItem& a, const RecordedItem& b) {
                          return a.at == b.at && a.payload == b.payload && a.reply == b.reply;
                      }));
    return 0;
}
