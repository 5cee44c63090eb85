#include "app/text/exit_status.hpp"

#include "app/text/units.hpp"

#include <csignal>
#include <cstdint>
#include <cstdlib>

namespace yodel {

using bufio::Reason;

int exit_status(const bufio::End& end) {
    switch (end.reason) {
    case Reason::none:
    case Reason::clean:
    case Reason::unclosed:
    case Reason::aborted: return success;
    case Reason::lookup: return lookup_failed;
    case Reason::refused:
    case Reason::connect: return connect_failed;
    case Reason::output: return output_failed;
    case Reason::timeout: return timed_out;
    case Reason::tls:
    case Reason::handshake_interrupted: return handshake_failed;
    case Reason::send: return send_failed;
    case Reason::own_certificate: return own_certificate_unusable;
    case Reason::certificate: return certificate_refused;
    case Reason::trust: return trust_unusable;
    case Reason::pin: return pin_differs;
    default: return receive_failed;
    }
}

std::string signal_text(int signo) {
    if (signo == SIGINT) return "ended by SIGINT";
    if (signo == SIGHUP) return "ended by SIGHUP";
    return signo == SIGTERM ? "ended by SIGTERM" : "ended by signal " + std::to_string(signo);
}

std::string certificate_faults_text(const bufio::TlsFacts& tls) {
    return tls.faults_text.empty() ? "" : "the certificate " + tls.faults_text;
}

std::string certificate_end_text(const bufio::TlsFacts& tls) {
    const auto days = static_cast<std::uint64_t>(std::abs(tls.days_left));
    const std::string time = days == 0 ? "less than a day" : count_text(days, "day");
    return tls.not_after + (tls.is_expired ? ", " + time + " ago" : ", in " + time);
}

std::string unverified_remark(const bufio::End& end, const bufio::TlsFacts* tls) {
    const bool is_refused = end.reason == Reason::certificate || end.reason == Reason::pin;
    if (is_refused || !tls || tls->faults_text.empty()) return "";
    return "; UNVERIFIED (-k): " + certificate_faults_text(*tls);
}

}  // namespace yodel
