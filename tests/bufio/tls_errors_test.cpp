// Tests how OpenSSL errors are translated into End values. The handshakes in tls_test.cpp cause
// some of these errors.
#include "bufio/tls_internal.hpp"
#include "tests/support/catch.hpp"

using bufio::Reason;
using bufio::TlsSituation;

namespace {

// Returns the situation of a client that has sent its first message, and whose facts the words
// change.
TlsSituation situation(const std::string& words) {
    const auto is = [&](const char* word) { return words.find(word) != std::string::npos; };
    return {.is_client = !is("server"),
            .handshake_done = is("done"),
            .peer_speaks_tls = is("speaks"),
            .certificate_requested = is("requested"),
            .has_certificate = is("certified"),
            .certificate_withheld = is("withheld"),
            .renegotiation_refused = is("renegotiated")};
}

}  // namespace

TEST_CASE("a failure of TLS ends a connection for a reason that people understand", "[tls]") {
    const int alert = SSL_AD_REASON_OFFSET;
    const struct {
        int code;
        const char* situation;
        Reason reason;
        std::string text;
    } rows[] = {
        {SSL_R_UNEXPECTED_EOF_WHILE_READING, "", Reason::handshake_interrupted,
         "the peer closed the connection during the TLS handshake"},
        {SSL_R_UNEXPECTED_EOF_WHILE_READING, "done", Reason::truncated,
         "the peer closed the connection without a TLS close_notify"},
        {SSL_R_WRONG_VERSION_NUMBER, "", Reason::tls, "the peer does not speak TLS"},
        {SSL_R_PACKET_LENGTH_TOO_LONG, "", Reason::tls, "the peer does not speak TLS"},
        {SSL_R_DATA_LENGTH_TOO_LONG, "", Reason::tls, "the peer does not speak TLS"},
        {SSL_R_HTTP_REQUEST, "server", Reason::tls, "the peer does not speak TLS"},
        {SSL_R_UNEXPECTED_MESSAGE, "", Reason::tls, "the peer does not speak TLS"},
        {SSL_R_UNEXPECTED_MESSAGE, "speaks", Reason::tls, "TLS: details"},
        {SSL_R_BAD_SIGNATURE, "", Reason::tls, "TLS: details"},
        {alert - 1, "", Reason::tls, "TLS: details"},
        {alert, "", Reason::tls, "the peer aborted the connection (TLS alert: close notify)"},
        {alert + 255, "", Reason::tls, "the peer aborted the connection (TLS alert: unknown)"},
        {alert + 256, "", Reason::tls, "TLS: details"},
        {alert + SSL_AD_MISSING_EXTENSION, "", Reason::tls,
         "the peer aborted the connection (TLS alert: missing extension)"},
        {alert + SSL_AD_NO_APPLICATION_PROTOCOL, "", Reason::tls,
         "the peer aborted the connection (TLS alert: no application protocol)"},
        {alert + SSL_AD_INTERNAL_ERROR, "requested withheld", Reason::tls,
         "the peer aborted the connection (TLS alert: internal error)"},
        {alert + SSL_AD_INTERNAL_ERROR, "renegotiated", Reason::tls,
         "the peer aborted the connection, because its renegotiation was refused (TLS alert: "
         "internal error)"},
        {alert + SSL_AD_PROTOCOL_VERSION, "", Reason::tls,
         "the peer supports none of our TLS versions (TLS alert: protocol version)"},
        {alert + SSL_AD_PROTOCOL_VERSION, "done", Reason::tls,
         "the peer aborted the connection (TLS alert: protocol version)"},
        {alert + SSL_AD_PROTOCOL_VERSION, "server", Reason::tls,
         "the peer aborted the connection (TLS alert: protocol version)"},
        {alert + SSL_AD_HANDSHAKE_FAILURE, "", Reason::tls,
         "the peer aborted the connection (TLS alert: handshake failure)"},
        {alert + SSL_AD_HANDSHAKE_FAILURE, "requested certified", Reason::tls,
         "the peer aborted the connection (TLS alert: handshake failure)"},
        {alert + SSL_AD_HANDSHAKE_FAILURE, "requested", Reason::own_certificate,
         "the peer requires a client certificate (TLS alert: handshake failure)"},
        {alert + SSL_AD_HANDSHAKE_FAILURE, "requested certified withheld",
         Reason::own_certificate,
         "the peer accepts no signature algorithm of our certificate (TLS alert: handshake "
         "failure)"},
        {alert + SSL_AD_CERTIFICATE_REQUIRED, "requested", Reason::own_certificate,
         "the peer requires a client certificate (TLS alert: certificate required)"},
        {alert + SSL_AD_BAD_CERTIFICATE, "", Reason::tls,
         "the peer aborted the connection (TLS alert: bad certificate)"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.code, row.situation);
        const bufio::End end =
            bufio::failure_end({row.code, "details"}, Reason::tls, situation(row.situation));
        CHECK(end.reason == row.reason);
        CHECK(end.text() == row.text);
    }
    for (const int refusal :
         {SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED,
          SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA}) {
        CAPTURE(refusal);
        const bufio::End end = bufio::failure_end({alert + refusal, ""}, Reason::receive,
                                                  situation("requested certified"));
        CHECK(end.reason == Reason::own_certificate);
        CHECK(end.text().starts_with("the peer refused our certificate (TLS alert: "));
    }
}
