#include "app/run/connection_text.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <optional>

namespace yodel {

std::string connection_text(const Session& session) {
    const Session::Phases& phases = session.phases();
    std::string text = "connected to " + session.address().text() + "; look-up " +
                       milliseconds_text(phases.lookup) + ", connect " +
                       milliseconds_text(phases.tcp);
    const bufio::TlsFacts* const tls = session.tls();
    if (!tls) return text + " ms";
    text += ", TLS " + milliseconds_text(*phases.tls) + " ms; " + tls->version + " " +
            tls->cipher + (tls->group.empty() ? "" : " " + tls->group) + ", " + tls->subject +
            " until " + tls->not_after + ", " + tls->pin;
    return tls->unverified.empty() ? text : text + ", UNVERIFIED: " + certificate_faults(*tls);
}

std::string certificate_text(const bufio::TlsFacts& tls) {
    return tls.subject + ", issued by " + tls.issuer + ", valid until " + tls.not_after + ", " +
           tls.pin;
}

void add_tcp(Results& results, const Session& session) {
    const std::optional<bufio::TcpFacts> facts = session.tcp();
    if (!facts) return;
    results.add_tcp({.min_rtt = facts->min_rtt,
                     .retransmits = facts->retransmits,
                     .mss = facts->mss,
                     .cwnd = facts->cwnd});
}

}  // namespace yodel
