// Compares replies with what is expected, and describes the differences.
#pragma once

#include "app/protocol/event.hpp"
#include "app/protocol/framing.hpp"
#include "app/text/expression.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// Returns the offset of the first difference, at most the size of the shorter text.
std::size_t first_difference(std::string_view a, std::string_view b);

// Returns the offset in `a` of the first unmasked difference; none if there is none.
std::optional<std::size_t> difference(const Expression* mask, std::string_view a,
                                      std::string_view b);

// Returns the number of positions with equal bytes.
std::size_t likeness(std::string_view a, std::string_view b);

// Compares the reply with `expected`. Without an expected reply, the result is bad, with a
// difference at byte 0.
Reply compared_reply(const Expression* mask, std::optional<std::string_view> expected,
                     std::string_view payload, std::optional<ev::Duration> round_trip);

// Returns "differs at byte 7", or "does not match" without a difference.
std::string differs_text(std::optional<std::size_t> difference);

// Returns the byte at `at` in hex, or "end" past the last byte.
std::string byte_text(std::string_view bytes, std::size_t at);

// Returns "at byte 4 (expected o, got n)": the expected and the received byte. The reply must
// have a difference.
std::string bad_byte_text(const Reply& bad);

// Returns "differs at byte 4 (expected o, got n)", or "does not match" without a difference.
std::string bad_text(const Reply& bad);

// Returns a sentence about a stale reply.
std::string stale_text(std::string_view payload);

// Explains a bad reply in a clause: an option to use, or that only its beginning was examined.
// Returns an empty text if it looks like a damaged echo.
std::string reply_hint(const Framing& framing, std::string_view payload, const Reply& bad);

}  // namespace yodel
