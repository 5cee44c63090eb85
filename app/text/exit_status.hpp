// How the program ends: curl's numbers where curl has one.
#pragma once

#include "bufio/end.hpp"
#include "bufio/tls_facts.hpp"

#include <string>
#include <system_error>

namespace yodel {

enum ExitStatus : int {
    all_well = 0,
    // 1 has two meanings: what was asked for failed, or the program could not run at all.
    reply_wrong_or_lost = 1,
    cannot_run = 1,
    usage_error = 2,
    lookup_failed = 6,
    connect_failed = 7,
    output_failed = 23,  // standard output or the log can't be written
    input_failed = 26,   // standard input can't be read
    timed_out = 28,
    handshake_failed = 35,
    send_failed = 55,
    receive_failed = 56,
    own_certificate_unusable = 58,
    certificate_refused = 60,
    trust_unusable = 77,
    pin_differs = 90,
};

// A file or standard output that can't be written. Its text names the file.
class OutputError : public std::system_error {
public:
    OutputError(const std::string& name, int code)
        : std::system_error(code, std::generic_category(), name) {}
};

// 0 for an end in order, or by our own hand.
int exit_status(const bufio::End& end);

// The end in one clause, with what the user can do about it.
std::string explain(const bufio::End& end, const bufio::TlsFacts* tls);

// The end of a summary if the peer's certificate was accepted by -k alone, with what is wrong
// with it; otherwise empty, as after a certificate that was refused.
std::string unverified_remark(const bufio::End& end, const bufio::TlsFacts* tls);

}  // namespace yodel
