// Any text is either read or refused with a sentence. A truncated object is always refused, and
// indenting does not change the value.
#include "app/text/json_reader.hpp"

#include <cassert>
#include <cstdint>
#include <string_view>

using namespace yodel;

namespace {

void use(const JsonValue& value) {
    assert(value.names.empty() || value.names.size() == value.items.size());
    for (const std::string& name : value.names) assert(value.find(name));
    for (const JsonValue& item : value.items) use(item);
    const bool number = value.kind == JsonValue::Kind::number;
    assert(number || !(value.count() || value.nanoseconds()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const JsonResult result = read_json(text);
    assert(result.value.has_value() == result.trouble.empty());
    if (!result.value) return 0;
    use(*result.value);
    std::size_t mark = 0;
    if (const auto indented = indented_json(text, mark))
        assert(read_json(*indented).value == result.value);
    if (result.value->kind != JsonValue::Kind::object) return 0;
    const std::size_t end = text.rfind('}');
    for (std::size_t cut = 0; cut <= end; ++cut) assert(!read_json(text.substr(0, cut)).value);
    return 0;
}
