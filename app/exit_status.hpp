// How the program ends: curl's numbers where curl has one.
#pragma once

#include "bufio/end.hpp"
#include "bufio/transport.hpp"

#include <string>

namespace yodel {

enum ExitStatus : int {
    all_well = 0,
    reply_wrong_or_lost = 1,
    usage_error = 2,
    cannot_run = 1,
    output_failed = 23,  // standard output or the log can't be written
    input_failed = 26,   // standard input can't be read
};

// 0 for an end in order, or by our own hand.
int exit_status(const bufio::End& end);

// The end in one clause, with what the user can do about it.
std::string explain(const bufio::End& end, const bufio::TlsFacts* tls);

// Writes the text to standard output. Throws std::system_error.
void print(const std::string& text);

// Writes "program: text" to standard error, made printable, as one line.
void complain(const char* program, const std::string& text);

// Complains of the exception that is being handled, and returns the exit status.
int fail(const char* program);

}  // namespace yodel
