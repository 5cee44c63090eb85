#include "app/load/own_messages.hpp"

#include "app/run/sources.hpp"
#include "app/text/escapes.hpp"
#include "app/text/exit_status.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

namespace yodel {

namespace {

constexpr std::size_t max_own_messages = 64 * 1024 * 1024;  // bytes

std::string read_file(const std::string& name) {
    errno = 0;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "re"),
                                                               std::fclose);
    std::string text;
    char bytes[65536];
    for (std::size_t count = sizeof bytes; file && count > 0;) {
        count = std::fread(bytes, 1, sizeof bytes, file.get());
        text.append(bytes, count);
        if (text.size() > max_own_messages)
            throw FileError("--messages: " + name + " is larger than " +
                            std::to_string(max_own_messages / 1024 / 1024) + " MiB");
    }
    if (!file || std::ferror(file.get()) != 0) throw InputError("--messages: " + name, errno);
    return text;
}

}  // namespace

OwnMessages read_own_messages(const std::string& file, const Framing& framing,
                              std::size_t max_frame, bool escapes) {
    const std::string text = read_file(file);
    if (text.empty()) throw FileError("--messages: " + file + " is empty");
    std::deque<std::string> messages;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::optional<std::string> message = text.substr(begin, end - begin);
        if (escapes) message = unescaped(*message);
        std::string fault;
        if (message) fault = message_refusal(*message, framing, max_frame);
        if (!message) fault.append(escapes_expected).append(" (--escapes)");
        if (!fault.empty())
            throw FileError("--messages: " + file + ": line " +
                            std::to_string(messages.size() + 1) + ": " + fault);
        messages.push_back(std::move(*message));
        begin = end + 1;
    }
    return std::make_shared<const std::deque<std::string>>(std::move(messages));
}

}  // namespace yodel
