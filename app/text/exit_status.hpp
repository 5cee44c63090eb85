// Exit statuses of all programs. Failures that curl also reports have curl's numbers.
#pragma once

#include "bufio/transport.hpp"

#include <stdexcept>
#include <string>
#include <system_error>

namespace yodel {

enum ExitStatus : int {
    success = 0,
    // Status 1 means that the replies failed the check, or that the program could not run.
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

// A failure: its exit status and one sentence.
struct Trouble {
    int status = success;
    std::string text = {};
};

// A file or standard output cannot be written. The text names the file.
struct OutputError : std::system_error {
    OutputError(const std::string& name, int code)
        : std::system_error(code, std::generic_category(), name) {}
};

// A user's file cannot be read. The text names the file.
struct InputError : std::system_error {
    InputError(const std::string& name, int code)
        : std::system_error(code, std::generic_category(), name) {}
};

// A user's mistake on the command line, as one clause.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An option of another program was used. The text is one clause with the right command.
struct WrongProgram : UsageError {
    using UsageError::UsageError;
};

// An error in a user's file. what() is one clause that names the file. The exit status is
// usage_error.
struct FileError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Returns the status for the end of a connection: 0 if it was clean, or caused by the user or
// the program.
int exit_status(const bufio::End& end);

// Returns a clause about a signal that ends the program: "ended by SIGTERM".
std::string signal_text(int signo);

// Returns the faults of the certificate, as a clause; empty if it was verified.
std::string certificate_faults_text(const bufio::TlsFacts& tls);

// Returns when the certificate expires or expired: "2026-12-01, in 9 days".
std::string certificate_end_text(const bufio::TlsFacts& tls);

// Returns the faults of a certificate that was accepted only because of -k, as the end of a
// summary. Otherwise returns an empty text.
std::string unverified_remark(const bufio::End& end, const bufio::TlsFacts* tls);

}  // namespace yodel
