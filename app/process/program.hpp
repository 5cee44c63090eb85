// The first and last steps of both programs.
#pragma once

#include <string>

namespace yodel {

// Must be the first call in main(). Fills the standard descriptors, and ignores the signals
// that would end the process when a write fails because the reader has gone or the limit on
// file sizes is reached, so that the write itself reports the error. `program` is the name in
// diagnostics and must live as long as the process.
void prepare_process(const char* program);

// Asks the system to end the waits of this thread, and of those that it starts later, as soon
// as their time has come, instead of up to 50 us later together with other timers, which is
// Linux's default. Has no effect elsewhere, or where the system refuses it: the program then is
// late by more, and reports that.
void ask_for_exact_waits();

// Opens /dev/null for each of the three standard descriptors that is closed, so that no socket
// gets its number. A closed standard input then reads as empty. Writing to a closed output
// still fails, because /dev/null is opened for reading.
void fill_standard_descriptors();

// Writes the text to standard output; blocks until it is written. Throws OutputError.
void print(const std::string& text);

// The end of a program after an exception: its exit status, and one sentence.
struct Failure {
    int status;
    std::string text;
};

// Describes the exception that is being handled; to be called in a catch block.
Failure current_failure(const char* program);

// Writes the failure to standard error, as {"error":"text","status":1} where diagnostics are
// JSON; returns its status.
int fail(const Failure& failure);

}  // namespace yodel
