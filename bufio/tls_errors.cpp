// Translates OpenSSL's errors into ends and texts.
#include "bufio/tls_internal.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace bufio {

namespace {

std::string error_text(unsigned long error) {
    if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
    const char* const text = ERR_reason_error_string(error);
    return text ? text : "no reason given";
}

// True for an alert that means that the peer refuses or lacks our certificate.
bool concerns_our_certificate(int alert) {
    constexpr int alerts[] = {SSL_AD_BAD_CERTIFICATE,     SSL_AD_UNSUPPORTED_CERTIFICATE,
                              SSL_AD_CERTIFICATE_REVOKED, SSL_AD_CERTIFICATE_EXPIRED,
                              SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA,
                              SSL_AD_CERTIFICATE_REQUIRED};
    return std::find(std::begin(alerts), std::end(alerts), alert) != std::end(alerts);
}

std::string alert_name(int alert) {
    switch (alert) {  // OpenSSL's own list lacks these
    case SSL_AD_MISSING_EXTENSION: return "missing extension";
    case SSL_AD_CERTIFICATE_REQUIRED: return "certificate required";
    case SSL_AD_NO_APPLICATION_PROTOCOL: return "no application protocol";
    default: return SSL_alert_desc_string_long(alert);
    }
}

// If our certificate is missing or refused, TLS 1.2 fails in the handshake and TLS 1.3 in the
// first read.
End alert_end(int alert, Reason reason, const TlsSituation& situation) {
    const auto end = [&](Reason why, const char* what) {
        return End{why, By::peer, what, "(TLS alert: " + alert_name(alert) + ")"};
    };
    const bool refused = concerns_our_certificate(alert);
    const bool may_be_missing = refused || alert == SSL_AD_HANDSHAKE_FAILURE;
    if (situation.certificate_requested && !situation.has_certificate && may_be_missing)
        return end(Reason::own_certificate, "requires a client certificate");
    if (situation.certificate_withheld && may_be_missing)
        return end(Reason::own_certificate,
                   "accepts no signature algorithm of our certificate");
    if (situation.certificate_requested && refused)
        return end(Reason::own_certificate, "refused our certificate");
    if (situation.renegotiation_refused)
        return end(reason, "aborted the connection, because its renegotiation was refused");
    if (alert == SSL_AD_PROTOCOL_VERSION && situation.client && !situation.handshake_done)
        return end(reason, "supports none of our TLS versions");
    return end(reason, "aborted the connection");
}

}  // namespace

std::string openssl_reason() {
    const unsigned long error = ERR_get_error();
    ERR_clear_error();
    return error_text(error);
}

TlsFailure take_failure() {
    unsigned long chosen = ERR_peek_error();
    for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error())
        if (ERR_GET_LIB(error) == ERR_LIB_SSL && !ERR_COMMON_ERROR(error)) chosen = error;
    const bool is_ssl_error = ERR_GET_LIB(chosen) == ERR_LIB_SSL;
    return {is_ssl_error ? ERR_GET_REASON(chosen) : 0, error_text(chosen)};
}

// A plain echo server returns our first TLS message, which OpenSSL reports as unexpected.
bool is_not_tls(int code, const TlsSituation& situation) {
    if (situation.peer_speaks_tls) return false;
    return code == SSL_R_WRONG_VERSION_NUMBER || code == SSL_R_PACKET_LENGTH_TOO_LONG ||
           code == SSL_R_DATA_LENGTH_TOO_LONG || code == SSL_R_HTTP_REQUEST ||
           code == SSL_R_UNEXPECTED_MESSAGE;
}

End closed_in_handshake() {
    return {Reason::handshake_interrupted, By::peer,
            "closed the connection during the TLS handshake"};
}

End protocol_failure(const TlsFailure& failure, Reason reason, const TlsSituation& situation) {
    const int code = failure.code;
    if (code == SSL_R_UNEXPECTED_EOF_WHILE_READING && !situation.handshake_done)
        return closed_in_handshake();
    if (code == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return {Reason::truncated, By::peer,
                "closed the connection without a TLS close_notify"};
    if (code == SSL_R_CERTIFICATE_VERIFY_FAILED)
        return {Reason::certificate, By::us,
                situation.client ? "the certificate of" : "the client's certificate",
                (situation.client ? situation.host + " " : "") + situation.facts.faults_text};
    if (is_not_tls(code, situation)) return {Reason::tls, By::peer, "does not speak TLS"};
    // Codes beyond the alerts are errors of OpenSSL itself, such as a lack of memory.
    const int alert = code - SSL_AD_REASON_OFFSET;
    if (alert >= 0 && alert < 256) return alert_end(alert, reason, situation);
    return {reason, By::us, "TLS:", failure.text};
}

}  // namespace bufio
