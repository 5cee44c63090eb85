// The options of yodel, parsed from its command line and checked.
#pragma once

#include "app/options/client/client_options.hpp"

#include <string>
#include <vector>

namespace yodel {

struct YodelOptions : ClientOptions {
    std::string recording_file;  // to show or to replay
};

// Parses and checks the command line. After --help or --version only that flag is set. Throws
// UsageError.
YodelOptions parse_yodel_options(int argc, char* argv[]);

// Returns true unless an option excludes full-screen mode.
bool may_have_screen(const YodelOptions& options);

// Throws UsageError about an option that does not apply with this display. Call it as soon as
// it is known whether there is a screen.
void check_display(const YodelOptions& options, bool screen);

// Sets the framing of the recording. With -r, also sets the recorded --expect, unless an option
// sets it. Throws UsageError if the options name another framing.
void use_recording(YodelOptions& options, std::shared_ptr<const Recording> recording);

std::string yodel_help();  // the whole output of --help

// Returns the table of options. Each sets its value in `to`, which must outlive the table.
std::vector<Option> yodel_table(YodelOptions& to);

}  // namespace yodel
