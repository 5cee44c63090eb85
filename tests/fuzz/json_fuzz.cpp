// Any text is either read or refused with a sentence. A truncated object is always refused, and
// indenting does not change the value.
#include "app/text/json.hpp"

#include <cassert>
#include <cstdint>
#include <optional>
#include <string_view>

using namespace yodel;

namespace {

void use(const JsonValue& value) {
    assert(value.names.empty() || value.names.size() == value.items.size());
    for (const std::string& name : value.names) assert(value.find(name));
    for (const JsonValue& item : value.items) use(item);
}

std::optional<JsonValue> read(std::string_view text) {
    try {
        return read_json(text);
    } catch (const JsonError& error) {
        assert(std::string_view(error.what()).starts_with("the line "));
        return std::nullopt;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::optional<JsonValue> value = read(text);
    if (!value) return 0;
    use(*value);
    std::size_t mark = 0;
    if (const auto indented = indented_json(text, mark)) assert(read(*indented) == value);
    if (value->kind != JsonValue::Kind::object) return 0;
    const std::size_t end = text.rfind('}');
    for (std::size_t cut = 0; cut <= end; ++cut) assert(!read(text.substr(0, cut)));
    return 0;
}
