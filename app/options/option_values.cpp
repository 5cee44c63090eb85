#include "app/options/option_values.hpp"

#include "app/options/target.hpp"

#include <sys/socket.h>

namespace yodel {

const Framing* framing_value(const std::string& text, bool can_echo) {
    const Framing* const found = find_framing(text);
    if (!found || !found->is_option() || (can_echo && !found->can_echo()))
        throw UsageError(in_quotes(text) + " is not a framing" +
                         (can_echo ? " that can be echoed" : "") + "; the framings are " +
                         join(framing_list(can_echo), ", "));
    return found;
}

void check_family(int family, const std::string& host) {
    const int given = numeric_family(host);
    if (family == AF_UNSPEC || given == AF_UNSPEC || given == family) return;
    const bool v6 = family == AF_INET6;
    throw UsageError((v6 ? "-6: \"" : "-4: \"") + host + "\" is not an " +
                     (v6 ? "IPv6" : "IPv4") + " address");
}

std::vector<Option> common_options(CommonOptions& to) {
    return {
        {"--no-sandbox", "do not enter the sandbox; see the manual", into(to.no_sandbox)},
        {"-h, --help", "print this text", into(to.help), "", "", "", true},
        {"-V, --version", "print version and libraries", into(to.version), "", "", "", true}};
}

std::vector<Option> joined(std::initializer_list<std::vector<Option>> tables) {
    std::vector<Option> all;
    for (const std::vector<Option>& each : tables)
        all.insert(all.end(), each.begin(), each.end());
    return all;
}

}  // namespace yodel
