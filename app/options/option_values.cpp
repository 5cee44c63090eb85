#include "app/options/option_values.hpp"

#include "app/options/target.hpp"
#include "bufio/address.hpp"

#include <sys/socket.h>

namespace yodel {

std::string checked_text(bool valid, const std::string& text, const std::string& expected) {
    return checked(valid ? std::optional(text) : std::nullopt, text, expected);
}

ev::Duration duration_value(const std::string& text) {
    return checked(parse_duration(text), text, "a duration such as 1.5s, 200ms or 2m");
}

std::optional<ev::Duration> limit_value(const std::string& text) {
    const ev::Duration limit = duration_value(text);
    return limit > ev::Duration::zero() ? std::optional(limit) : std::nullopt;
}

std::size_t positive_size_value(const std::string& text) {
    const auto value = parse_size(text);
    return checked(value && *value > 0 ? value : std::nullopt, text,
                   "a size such as 512, 64k or 32M");
}

std::function<unsigned(const std::string&)> number_up_to(unsigned max) {
    return [max](const std::string& text) {
        return checked(parse_number(text, 1, max), text,
                       "a number from 1 to " + std::to_string(max));
    };
}

const Framing* framing_value(const std::string& text, bool can_echo) {
    const Framing* const found = find_framing(text);
    if (!found || !found->is_option() || (can_echo && !found->can_echo()))
        throw UsageError(in_quotes(text) + " is not a framing" +
                         (can_echo ? " that can be echoed" : "") + "; the framings are " +
                         join(framing_list(can_echo), ", "));
    return found;
}

std::string host_name_value(const std::string& text) {
    if (bufio::name_in_certificate(text).empty())
        throw UsageError(in_quotes(text) + " is neither a host name nor an address");
    return text;
}

void check_family(int family, const std::string& host) {
    const int given = numeric_family(host);
    if (family == AF_UNSPEC || given == AF_UNSPEC || given == family) return;
    const bool v6 = family == AF_INET6;
    throw UsageError((v6 ? "-6: \"" : "-4: \"") + host + "\" is not an " +
                     (v6 ? "IPv6" : "IPv4") + " address");
}

std::vector<Option> with_common_options(std::vector<Option> rows, CommonOptions& to) {
    rows.push_back({0, "no-sandbox", absent, "do not enter the sandbox; see the manual",
                    into(to.no_sandbox)});
    rows.push_back({'h', "help", absent, "print this text", into(to.help), "", "", "", true});
    rows.push_back({'V', "version", absent, "print version and libraries", into(to.version), "",
                    "", "", true});
    return rows;
}

}  // namespace yodel
