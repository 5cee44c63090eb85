// What both programs do first and last.
#pragma once

#include <string>

namespace yodel {

// Prepares the process: fills the standard descriptors, and ignores the two signals that would
// end it for a write that fails (a reader that went away, the limit on the size of files), so
// that the write itself reports the error. The first call in main().
void prepare_process(const char* program);

// Opens /dev/null in the place of each of the three standard descriptors that is closed, so
// that no socket takes its number. A closed standard input is an empty one. Writing to a closed
// output fails as it would have done without this.
void fill_standard_descriptors();

// Writes the text to standard output, waiting for its reader. Throws OutputError.
void print(const std::string& text);

// How the program ends after an exception.
struct Failure {
    int status;
    std::string text;
};

// Describes the exception that is being handled.
Failure current_failure(const char* program);

// Writes the failure to standard error, as {"error":"text","status":1} where diagnostics are
// JSON; returns its status.
int fail(const Failure& failure);

}  // namespace yodel
