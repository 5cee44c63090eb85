// The first and last steps of both programs.
#pragma once

#include "app/text/exit_status.hpp"

#include <cstddef>
#include <string>

namespace yodel {

// Must be the first call in main(). Fills the standard descriptors, and ignores the signals
// that would end the process when a write fails because the reader has gone or the limit on
// file sizes is reached, so that the write itself reports the error. `program` is the name in
// diagnostics and must live as long as the process.
void prepare_process(const char* program);

// Asks the system to end the waits of this thread, and of those that it starts later, as soon
// as their time has come, instead of up to 50 us later together with other timers, which is
// Linux's default. Has no effect elsewhere, or if the system refuses it: then the program is
// later than planned, and reports that.
void ask_for_exact_waits();

// Opens /dev/null for each of the three standard descriptors that is closed, so that no socket
// gets its number. A closed standard input then reads as empty. Writing to a closed output
// still fails, because /dev/null is opened for reading.
void fill_standard_descriptors();

// Writes the text to standard output; blocks until it is written. Throws OutputError.
void print(const std::string& text);

// Describes the exception that is being handled; to be called in a catch block.
Trouble current_trouble(const char* program);

// Writes the trouble to standard error, as {"error":"text","status":1} if diagnostics are JSON.
// Returns its status.
int fail(const Trouble& trouble);

// Makes room for `count` descriptors beside those of the program itself: raises the soft limit
// to the hard one. Throws std::runtime_error, with both numbers, if that does not suffice.
void provide_descriptors(std::size_t count);

// Returns the limit on descriptors; 0: there is none.
std::size_t descriptor_limit();
// The number of descriptors in use. Looks at the lowest 256 only.
std::size_t used_descriptors();

}  // namespace yodel
