// Describes a run for people: opened connections, and replies that are bad or differ from the
// recording. Transcripts use app/protocol/event.hpp.
#pragma once

#include "app/protocol/session.hpp"
#include "app/stats/results.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace yodel {

// Returns "connected to 127.0.0.1:7000; look-up 0.00, connect 0.05 ms".
std::string connection_text(const Session& session);
// Returns "connected to 127.0.0.1:7000, look-up 0.00, TCP 0.05, TLS 2.1 ms".
std::string attempt_text(const Session& session);
// Returns "subject, issued by issuer, valid until 2027-01-01, sha256//…".
std::string certificate_text(const bufio::TlsFacts& tls);
// Adds the system's TCP facts about the connection. Call it when the connection has ended.
void add_tcp_facts(Results& results, const Session& session);

// Returns "reply 3 differs from its message at byte 4 (expected o, got n)" or "reply 3 does not
// match "^OK": ERR unknown", either may be followed by a hint.
std::string bad_reply_text(const Message& message, const Reply& reply,
                           const Session::Options& options);

// Describes how a replay differs from its recording, in whole lines of printable text.
class DifferenceText {
public:
    // `hex`: prints payloads as hex dumps. The session's options outlive this object.
    DifferenceText(bool hex, const Session::Options& options) : hex_(hex), options_(options) {}

    std::string bad_reply(const Message& message, const Reply& reply) const;
    std::string lost(const Message& message) const;
    // Describes a right reply to a message already reported as lost.
    static std::string late(const Message& message, const Reply& reply);
    std::string unrecorded(std::string_view unsolicited) const;
    std::string missing(std::string_view unsolicited) const;

private:
    std::string part(const char* name, std::string_view payload, std::size_t difference) const;

    bool hex_;
    const Session::Options& options_;
};

}  // namespace yodel
