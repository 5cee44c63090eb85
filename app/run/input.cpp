#include "app/run/input.hpp"

#include "app/text/escapes.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

constexpr std::size_t chunk = 64 * 1024;  // bytes read at once

}  // namespace

std::string message_refusal(std::string_view message, const Framing& framing,
                            std::size_t max_frame) {
    if (!is_sendable(framing, max_frame, message))
        return framing.misfit_text(message.size(), max_frame);
    if (count_pieces(framing, message) > 1)
        return "the message contains a delimiter of " + framing.label();
    return "";
}

Input::Input(ev::Loop& loop, Options options, std::function<void()> changed)
    : options_(std::move(options)),
      changed_(std::move(changed)),
      lines_(*find_framing("line"), options_.max_frame),
      watch_(loop, STDIN_FILENO, ev::none, [this](ev::Events) { read(); }) {}

void Input::read() {
    const std::size_t size = options_.reserve ? std::min(chunk, options_.max_frame) : chunk;
    char* const space = options_.reserve ? options_.reserve(size) : buffer_.reserve(size);
    const ssize_t count = ::read(STDIN_FILENO, space, size);
    const bool later = count < 0 && (errno == EINTR || errno == EAGAIN);
    if (count < 0 && !later) fail(std::generic_category().message(errno), input_failed);
    if (count > 0 && options_.reserve)
        reserved_bytes_ = {space, static_cast<std::size_t>(count)};
    if (count > 0 && !options_.reserve) buffer_.commit(static_cast<std::size_t>(count));
    if (count == 0) ended_ = true;
    if (ended_) watch_.want(ev::none);
    changed_();
}

std::optional<std::string_view> Input::next() {
    if (!reserved_bytes_.empty()) return reserved_bytes_;
    const Decoder::Decoded line = decode_next();
    if (line.kind == Decoder::Decoded::Kind::error) refuse(line.error);
    if (line.kind != Decoder::Decoded::Kind::message) return std::nullopt;
    message_size_ = line.used;
    unterminated_ = line.used == line.payload.size();
    std::string_view payload = line.payload;
    // The framing adds a CR to the LF. The input may already contain it.
    if (options_.framing->delimiter == "\r\n" && !unterminated_ && payload.ends_with('\r'))
        payload.remove_suffix(1);
    if (options_.escapes) {
        std::optional<std::string> plain = unescaped(payload);
        if (!plain) refuse(std::string(escapes_expected) + " (--escapes)");
        if (!plain) return std::nullopt;
        unescaped_ = std::move(*plain);
        payload = unescaped_;
    }
    std::string fault =
        options_.single ? message_refusal(payload, *options_.framing, options_.max_frame) : "";
    if (!is_sendable(*options_.framing, options_.max_frame, payload))
        fault = options_.framing->misfit_text(payload.size(), options_.max_frame);
    if (fault.empty()) return payload;
    refuse(fault);
    return std::nullopt;
}

Decoder::Decoded Input::decode_next() {
    const std::string_view bytes = buffer_.view();
    const auto whole = [](std::string_view payload) {
        return Decoder::Decoded{.kind = Decoder::Decoded::Kind::message,
                                .payload = payload,
                                .used = payload.size()};
    };
    if (bytes.empty()) return {};
    if (!options_.lines) return whole(bytes.substr(0, chunk));
    Decoder::Decoded line = lines_.next(bytes);
    const bool last = line.kind == Decoder::Decoded::Kind::incomplete && ended_;
    return last ? whole(bytes) : line;
}

std::string_view Input::whole_lines(std::size_t limit) const {
    const std::string_view bytes = buffer_.view().substr(0, limit);
    return bytes.substr(0, bytes.rfind('\n') + 1);
}

void Input::remove_lines(std::size_t size) {
    lines_.restart();
    remove(size);
}

void Input::remove(std::size_t size) {
    const std::string_view removed = buffer_.view().substr(0, size);
    line_number_ +=
        static_cast<std::uint64_t>(std::count(removed.begin(), removed.end(), '\n'));
    if (reserved_bytes_.empty()) return buffer_.consume(size);
    reserved_bytes_ = {};
}

// Ends the input because its next line cannot be sent.
void Input::refuse(const std::string& text) {
    fail(text, reply_bad_or_lost);
    if (options_.lines)
        trouble_.text = "standard input, line " + std::to_string(line_number_) + ": " + text;
}

void Input::fail(const std::string& text, int status) {
    trouble_ = {status, "standard input: " + text};
    ended_ = true;
    watch_.want(ev::none);
    buffer_.consume(buffer_.size());
}

Script::Script(ev::Loop& loop, Input::Options options, std::function<void()> changed)
    : changed_(std::move(changed)), input_(loop, std::move(options), [this] { read(); }) {
    input_.want(true);
}

void Script::read() {
    while (const auto message = input_.next()) {
        bytes_ += sizeof(std::string) + message->size();
        messages_.emplace_back(*message);
        input_.remove_message();
    }
    if (bytes_ > max_bytes)
        input_.fail("more than " + std::to_string(max_bytes / 1024 / 1024) +
                        " MiB, which is too much to send on every connection",
                    reply_bad_or_lost);
    changed_();
}

std::optional<Outgoing> LineSource::next() {
    if (left_ == 0) return std::nullopt;
    const std::optional<std::string_view> message = input_.next();
    if (!message) input_.want(true);
    any_ = any_ || message;
    return message ? std::optional(Outgoing{.payload = *message}) : std::nullopt;
}

void LineSource::sent(const Outgoing& /*message*/, QueuedIds /*queued*/) {
    input_.remove_message();
    --left_;
}

// A line that cannot be sent is a usage error, as in a file.
Trouble LineSource::trouble() const {
    const Trouble& trouble = input_.trouble();
    if (trouble.status == reply_bad_or_lost) return {usage_error, trouble.text};
    const bool empty = trouble.text.empty() && input_.over() && !any_;
    return empty ? Trouble{usage_error, "--messages: - is empty"} : trouble;
}

}  // namespace yodel
