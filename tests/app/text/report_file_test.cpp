#include "app/text/log_file.hpp"

#include "app/text/exit_status.hpp"
#include "tests/support/catch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using yodel::ReportFile;

namespace {

std::string refusal(const std::string& path) {
    try {
        const ReportFile file(path);
    } catch (const yodel::OutputError& error) {
        return error.what();
    }
    return "opened";
}

// A temporary path, removed at the end.
struct Path {
    explicit Path(const char* name)
        : text(std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))) {}
    ~Path() { ::unlink(text.c_str()); }
    Path(const Path&) = delete;
    Path& operator=(const Path&) = delete;
    std::string contents() const {
        std::ifstream stream(text);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    std::string text;
};

}  // namespace

TEST_CASE("empties a report file at the start, and writes it at the end") {
    const Path path("report_file_test.");
    std::ofstream(path.text) << "something longer than the report";
    ReportFile file(path.text);
    CHECK(path.contents().empty());
    CHECK(file.write("the report\n").empty());
    CHECK(path.contents() == "the report\n");
}

TEST_CASE("refuses a report file that can't be opened with the reason, without waiting") {
    const Path pipe("report_file_test_pipe.");
    ::mkfifo(pipe.text.c_str(), 0600);
    CHECK(refusal("/no/report") == "cannot write /no/report: No such file or directory");
    CHECK(refusal("/") == "cannot write /: Is a directory");
    CHECK(refusal(pipe.text).starts_with("cannot write " + pipe.text +
                                         ": the pipe has no reader"));
}

TEST_CASE("names a report file that can't be written, with the reason") {
    ReportFile full("/dev/full");
    CHECK(full.write("the report\n") == "cannot write /dev/full: No space left on device");
}
