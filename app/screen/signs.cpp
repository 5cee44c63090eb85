#include "app/screen/signs.hpp"

namespace yodel {

namespace {

namespace glyph = ui::glyph;

constexpr ui::Glyph as_sign(const char* text) { return {text, text}; }

constexpr Sign counter_signs[] = {
    {glyph::outgoing, "messages sent"},
    {glyph::incoming, "right replies"},
    {glyph::in_flight, "messages in flight: their replies are still to come"},
    {glyph::mismatch, "wrong replies"},
    {glyph::lost, "lost: no reply in time"},
    {glyph::unsolicited, "messages that answer nothing, such as a greeting"},
};

constexpr Sign datagram_signs[] = {
    {as_sign(status_word::twice), "replies that came again"},
    {as_sign(status_word::out_of_order), "datagrams that came after later ones"},
};

constexpr Sign status_signs[] = {
    {glyph::connected, "there is a connection"},
    {glyph::disconnected, "there is none: the words after it say why"},
    {glyph::match, "the certificate is verified, and valid for N more days"},
    {glyph::separator, "between the connection, the counters and the times"},
    {{"▁▄█", ""}, "the last round trips, each beside the longest of them"},
    {as_sign(status_word::unverified), "the certificate is not verified, by option -k"},
    {as_sign(status_word::held), "scrolled back: N newer messages are below the view"},
    {as_sign(status_word::kept), "lines that wait for a connection"},
    {as_sign(status_word::file), "a transcript is written"},
    {as_sign(status_word::mouse), "the wheel scrolls, and selecting text needs Shift"},
    {as_sign(status_word::key_log), "the secrets of TLS are written to SSLKEYLOGFILE"},
};

constexpr Sign message_signs[] = {
    {glyph::sent, "a message, with the time of sending"},
    {glyph::received, "its reply, with the round trip"},
    {glyph::match, "the reply is right"},
    {glyph::mismatch, "the reply is wrong, and differs from this byte on"},
    {glyph::becomes, "between the expected byte and the received one"},
    {glyph::lost, "a message without a reply"},
    {glyph::note, "a remark of the program"},
    {glyph::resent, "the system sent a segment of ours again meanwhile"},
    {glyph::ellipsis, "the message goes on: this is its length"},
};

constexpr Sign page_signs[] = {
    {glyph::block, "round trips up to this time, and longer than the row above"},
    {{"░▒▓█", ".:#@"}, "the share of a cell in the round trips of its column"},
};

constexpr SignGroup groups_of_signs[] = {
    {"The counters", counter_signs},
    {"Among the messages", message_signs},
    {"The counters of datagrams", datagram_signs},
    {"The rest of the status line", status_signs},
    {"On the pages of statistics", page_signs},
};

}  // namespace

std::span<const SignGroup> sign_groups() { return groups_of_signs; }

}  // namespace yodel
