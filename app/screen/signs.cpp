#include "app/screen/signs.hpp"

namespace yodel {

namespace {

constexpr Glyph as_sign(const char* text) { return {text, text}; }

constexpr Sign counter_signs[] = {
    {glyph::outgoing, "messages sent"},
    {glyph::incoming, "right replies"},
    {glyph::in_flight, "messages in flight, waiting for a reply"},
    {glyph::bad, "bad replies"},
    {glyph::lost, "lost messages, without a reply in time"},
    {glyph::unsolicited, "unsolicited messages, such as a greeting"},
};

constexpr Sign datagram_signs[] = {
    {as_sign(status_word::duplicate), "duplicate replies"},
    {as_sign(status_word::reordered), "replies received after the reply to a later message"},
};

constexpr Sign status_signs[] = {
    {glyph::connected, "connected"},
    {glyph::disconnected, "not connected; the words after it give the reason"},
    {glyph::right, "the certificate is verified, and valid for N more days"},
    {glyph::separator, "separates the connection, the counters and the times"},
    {{"▁▄█", ""}, "recent round trips, relative to the longest one"},
    {as_sign(status_word::unverified), "the certificate is not verified, because of -k"},
    {as_sign(status_word::held), "scrolled back; N newer messages are below the view"},
    {as_sign(status_word::queued), "lines to be sent once connected"},
    {as_sign(status_word::file), "a transcript or recording is being written"},
    {as_sign(status_word::key_log), "TLS secrets are being written to SSLKEYLOGFILE"},
};

constexpr Sign message_signs[] = {
    {glyph::sent, "a message, and when it was sent"},
    {glyph::received, "its reply, and the round-trip time"},
    {glyph::right, "the reply is right"},
    {glyph::bad, "the reply is bad; its first bad byte is marked"},
    {glyph::arrow, "between the expected and the received byte"},
    {glyph::lost, "no reply in time"},
    {glyph::note, "a note from yodel"},
    {glyph::ellipsis, "the message is truncated; its full length follows"},
};

constexpr Sign page_signs[] = {
    {glyph::block, "round trips up to this time, and longer than the row above"},
    {{"░▒▓█", ".:#@"}, "this cell's share of the round trips of its column"},
};

constexpr SignGroup groups_of_signs[] = {
    {"Counters", counter_signs},
    {"Messages on the screen", message_signs},
    {"Datagram counters", datagram_signs},
    {"Rest of the status line", status_signs},
    {"Statistics", page_signs},
};

}  // namespace

std::span<const SignGroup> sign_groups() { return groups_of_signs; }

}  // namespace yodel
