#include "app/websocket/opening.hpp"

#include "app/text/units.hpp"
#include "bufio/tls.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace yodel::websocket {

using bufio::By;
using bufio::End;
using bufio::Reason;

namespace {

constexpr std::string_view blank_line = "\r\n\r\n";

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& letter : result)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return result;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    const std::size_t end = text.find_last_not_of(" \t");
    return text.substr(begin, end + 1 - begin);
}

// A request or a response: its first line, and its fields by lower-case name. The values of
// fields with the same name are joined by commas (RFC 9110, 5.3).
struct Head {
    std::string_view first;
    std::map<std::string, std::string> fields = {};
    bool is_valid = true;

    std::string_view field(const std::string& name) const {
        const auto found = fields.find(name);
        return found == fields.end() ? std::string_view() : found->second;
    }
    // Returns the members of a comma-separated list, without empty ones (RFC 9110, 5.6.1.2).
    std::vector<std::string_view> list(const std::string& name) const {
        std::vector<std::string_view> members;
        const std::string_view value = field(name);
        for (std::size_t at = 0; at <= value.size();) {
            const std::size_t size = std::min(value.find(',', at), value.size()) - at;
            const std::string_view member = trimmed(value.substr(at, size));
            if (!member.empty()) members.push_back(member);
            at += size + 1;
        }
        return members;
    }
    // Ignores the case of the list. The word must be in lower case.
    bool list_contains(const std::string& name, std::string_view word) const {
        const auto members = list(name);
        return std::any_of(members.begin(), members.end(),
                           [&](std::string_view each) { return lower(each) == word; });
    }
};

bool is_field_value(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        return (byte < ' ' && byte != '\t') || byte == 0x7f;
    });
}

Head parse(std::string_view text) {
    text.remove_suffix(blank_line.size());
    const std::size_t first = std::min(text.find("\r\n"), text.size());
    Head header{text.substr(0, first)};
    header.is_valid = is_field_value(header.first);
    for (std::size_t at = first; at < text.size();) {
        const std::size_t end = std::min(text.find("\r\n", at + 2), text.size());
        const std::string_view line = text.substr(at + 2, end - at - 2);
        const std::size_t colon = std::min(line.find(':'), line.size());
        const std::string_view value = line.substr(std::min(colon + 1, line.size()));
        header.is_valid = header.is_valid && colon < line.size() &&
                          is_token(line.substr(0, colon)) && is_field_value(value);
        const auto [field, is_new] = header.fields.try_emplace(lower(line.substr(0, colon)));
        field->second.append(is_new ? "" : ",").append(trimmed(value));
        at = end;
    }
    return header;
}

// Returns the Sec-WebSocket-Accept value for a Sec-WebSocket-Key (RFC 6455, 4.2.2).
std::string accept_value(std::string_view key) {
    return ui::base64(bufio::sha1(std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
}

// Returns "404 Not Found" and the like, or an empty text if this is not a status line.
std::string_view status_of(std::string_view line) {
    const std::string_view status = line.substr(std::min<std::size_t>(9, line.size()));
    const std::size_t end = std::min(status.find(' '), status.size());
    const bool is_valid =
        end == 3 && line[8] == ' ' && status.find_first_not_of("0123456789") >= end;
    return is_valid ? status : "";
}

constexpr const char* invalid_request = "the request is not a valid HTTP/1.1 GET request";
constexpr const char* bad_request = "400 Bad Request\r\nConnection: close";
constexpr const char* upgrade_required =
    "426 Upgrade Required\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Connection: Upgrade, close";

Reply refusal(const char* head, std::string error) {
    const std::string body = error + "\n";
    return {"HTTP/1.1 " + std::string(head) +
                "\r\nContent-Type: text/plain\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body,
            std::move(error)};
}

}  // namespace

bool is_token(std::string_view text) {
    constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
               others.find(letter) != std::string_view::npos;
    });
}

bool is_allowed_header(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string name = lower(line.substr(0, colon));
    const bool is_ours = name == "upgrade" || name == "connection" ||
                         name == "content-length" || name == "transfer-encoding" ||
                         name.starts_with("sec-websocket-");
    return is_token(name) && !is_ours && is_field_value(line.substr(colon + 1));
}

std::string Request::text(std::string_view key) const {
    std::string text = "GET " + path + " HTTP/1.1\r\n";
    const auto add = [&](std::string_view line) { text.append(line).append("\r\n"); };
    const bool has_host = std::any_of(headers.begin(), headers.end(), [](const auto& each) {
        return lower(each).starts_with("host:");
    });
    if (!has_host) add("Host: " + host);
    add("Upgrade: websocket");
    add("Connection: Upgrade");
    add("Sec-WebSocket-Key: " + std::string(key));
    add("Sec-WebSocket-Version: 13");
    std::string offered;
    for (const std::string& each : subprotocols)
        offered += (offered.empty() ? "" : ", ") + each;
    if (!offered.empty()) add("Sec-WebSocket-Protocol: " + offered);
    for (const std::string& each : headers) add(each);
    add("");
    return text;
}

std::optional<std::size_t> opening_size(std::string_view bytes) {
    const std::size_t end = bytes.find(blank_line);
    if (end == std::string_view::npos) return std::nullopt;
    return end + blank_line.size();
}

bool is_interim(std::string_view response) {
    const std::string_view status = status_of(response.substr(0, response.find('\r')));
    return status.starts_with('1') && !status.starts_with("101");
}

End check_start(std::string_view bytes) {
    constexpr std::string_view start = "HTTP/1.";
    constexpr std::string_view alert = "\x15\x03";
    if (bytes.starts_with(alert)) return {Reason::tls, By::peer, "speaks TLS; use wss://"};
    if (!bytes.starts_with(start.substr(0, bytes.size())) && bytes != alert.substr(0, 1))
        return {Reason::refused, By::peer, "does not speak HTTP, which WebSocket needs"};
    if (bytes.size() > max_opening_size)
        return {Reason::refused, By::us, "the server's response exceeds",
                std::to_string(max_opening_size) + " bytes"};
    return {};
}

End check_response(std::string_view response, const Request& request, std::string_view key) {
    const Head header = parse(response);
    const std::string_view status = status_of(header.first);
    if (!header.is_valid || status.empty())
        return {Reason::refused, By::us, "the server's response is not valid HTTP"};
    if (status.substr(0, 3) != "101") {
        const std::string_view to = header.field("location");
        const bool is_redirect = status.starts_with('3') && !to.empty();
        return {Reason::refused, By::peer, "refused the WebSocket upgrade:",
                std::string(status) + (is_redirect ? ", to " + std::string(to) : "")};
    }
    const auto broken = [](const char* why) {
        return End{Reason::refused, By::us, "the server's WebSocket upgrade is invalid:", why};
    };
    if (!header.first.starts_with("HTTP/1.1")) return broken("it is not HTTP/1.1");
    if (lower(header.field("upgrade")) != "websocket" ||
        !header.list_contains("connection", "upgrade"))
        return broken("it does not switch to WebSocket");
    if (header.field("sec-websocket-accept") != accept_value(key))
        return broken("Sec-WebSocket-Accept does not match the key");
    if (!header.list("sec-websocket-extensions").empty())
        return broken("it selects an extension that was not offered");
    const auto chosen = header.list("sec-websocket-protocol");
    const auto& offered = request.subprotocols;
    const bool is_offered = !header.fields.contains("sec-websocket-protocol") ||
                            (chosen.size() == 1 && std::find(offered.begin(), offered.end(),
                                                             chosen[0]) != offered.end());
    if (!is_offered) return broken("it selects a subprotocol that was not offered");
    return {};
}

Reply reply_to(std::string_view request) {
    if (request.starts_with("\x16\x03"))
        return refusal(bad_request, "the client speaks TLS, but this port does not");
    if (request.size() > max_opening_size)
        return refusal("431 Request Header Fields Too Large\r\nConnection: close",
                       "the request's header exceeds 16 KiB");
    if (!opening_size(request)) return refusal(bad_request, invalid_request);
    const Head header = parse(request);
    constexpr std::string_view version = " HTTP/1.1";
    const std::string_view line = header.first;
    const bool is_get = line.starts_with("GET ") && line.ends_with(version) &&
                        line.find(' ', 5) == line.size() - version.size();
    if (!header.is_valid || !is_get || header.list("host").size() != 1)
        return refusal(bad_request, invalid_request);
    if (!header.list_contains("upgrade", "websocket") ||
        !header.list_contains("connection", "upgrade"))
        return refusal(upgrade_required, "the request is not a WebSocket upgrade");
    if (header.field("sec-websocket-version") != "13")
        return refusal(upgrade_required, "the WebSocket version is not 13");
    const std::string_view key = header.field("sec-websocket-key");
    // A key is 16 bytes in base64.
    if (key.size() != 24 || !key.ends_with("==") ||
        key.find_first_not_of(ui::base64_digits) < 22)
        return refusal(bad_request, "Sec-WebSocket-Key is invalid");
    const auto offered = header.list("sec-websocket-protocol");
    const bool has_offers = !offered.empty();
    if (has_offers != header.fields.contains("sec-websocket-protocol") ||
        !std::all_of(offered.begin(), offered.end(), is_token))
        return refusal(bad_request, "Sec-WebSocket-Protocol is not a list of tokens");
    return {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Accept: " +
            accept_value(key) + "\r\n" +
            (has_offers ? "Sec-WebSocket-Protocol: " + std::string(offered[0]) + "\r\n" : "") +
            "\r\n"};
}

}  // namespace yodel::websocket
