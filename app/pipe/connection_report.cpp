#include "app/pipe/connection_report.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <optional>

namespace yodel {

std::string connection_text(const AnySession& session) {
    const AnySession::Phases& phases = session.phases();
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

void add_tcp(Results& result, const AnySession& session) {
    const std::optional<bufio::TcpFacts> facts = session.tcp();
    if (!facts) return;
    result.add_tcp({.min_rtt = facts->min_rtt,
                    .retransmits = facts->retransmits,
                    .mss = facts->mss,
                    .cwnd = facts->cwnd});
}

}  // namespace yodel
