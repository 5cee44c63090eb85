// Exit statuses of all programs. Failures that curl also reports have curl's numbers.
#pragma once

#include "bufio/transport.hpp"

#include <stdexcept>
#include <string>
#include <system_error>

namespace yodel {

enum ExitStatus : int {
    success = 0,
    // Status 1 means that messages or checks failed, or that the program could not run.
    reply_bad_or_lost = 1,
    cannot_run = 1,
    usage_error = 2,
    lookup_failed = 6,
    connect_failed = 7,
    output_failed = 23,  // standard output or the log cannot be written
    input_failed = 26,   // standard input cannot be read
    timed_out = 28,
    handshake_failed = 35,
    send_failed = 55,
    receive_failed = 56,
    own_certificate_unusable = 58,
    certificate_refused = 60,
    trust_unusable = 77,
    pin_differs = 90,
};

struct Trouble {
    int status = success;
    std::string text = {};  // one clause; empty if there is nothing to print
};

// A user's mistake on the command line. what() is one clause.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An option of another program was used. what() is one clause with a command to type.
struct WrongProgram : UsageError {
    using UsageError::UsageError;
};

// A file that cannot be read or written, or is invalid. what() is one clause that names the
// file.
struct FileError : std::runtime_error {
    // If the errno `code` is not 0, its meaning ends the text.
    FileError(int exit_status, const std::string& text, int code = 0)
        : std::runtime_error(code == 0 ? text
                                       : text + ": " + std::generic_category().message(code)),
          status(exit_status) {}

    int status;
};

// Returns the status for the end of a connection: 0 if the end was clean, if only the peer's
// close was missing, or if the user or the program ended the connection.
int exit_status(const bufio::End& end);

// Returns "ended by SIGTERM", for example.
std::string signal_text(int signo);

// Returns the faults of the certificate, as a clause, or an empty string if it was verified.
std::string certificate_faults_text(const bufio::TlsFacts& tls);

// Returns when the certificate expires or expired: "2026-12-01, in 9 days".
std::string certificate_end_text(const bufio::TlsFacts& tls);

// Returns the faults of a certificate that was accepted only because of -k, as the end of a
// summary. Otherwise returns an empty text.
std::string unverified_remark(const bufio::End& end, const bufio::TlsFacts* tls);

}  // namespace yodel
