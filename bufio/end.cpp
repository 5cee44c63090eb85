#include "bufio/end.hpp"

#include <system_error>

namespace bufio {

End system_end(Reason reason, const std::string& what, int code) {
    return {reason, what + ": " + std::generic_category().message(code)};
}

}  // namespace bufio
