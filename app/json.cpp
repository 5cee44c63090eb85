#include "app/json.hpp"

#include "ui/text.hpp"

namespace yodel {

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char byte : ui::printable(text)) {
        if (byte == '"' || byte == '\\') quoted += '\\';
        quoted += byte;
    }
    return quoted + '"';
}

}  // namespace yodel
