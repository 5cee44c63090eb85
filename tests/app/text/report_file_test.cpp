#include "app/text/log_file.hpp"

#include "app/text/exit_status.hpp"
#include "tests/support/catch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using yodel::LogFile;
using Content = LogFile::Content;

namespace {

std::string refusal(const std::string& path, Content content) {
    try {
        const LogFile file(path, content);
    } catch (const yodel::OutputError& error) {
        return error.what();
    }
    return "opened";
}

// A temporary path, removed at the end.
struct Path {
    explicit Path(const std::string& name)
        : text(std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))) {}
    ~Path() { std::filesystem::remove_all(text); }
    Path(const Path&) = delete;
    Path& operator=(const Path&) = delete;
    std::string contents() const {
        std::ifstream stream(text);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    std::string text;
};

}  // namespace

TEST_CASE("empties a report at the start, and writes it as it comes") {
    const Path path("report_file_test.");
    std::ofstream(path.text) << "something longer than the report";
    LogFile file(path.text, Content::report);
    CHECK(path.contents().empty());
    file.add_text("the\n");
    CHECK(path.contents() == "the\n");
    file.add_text("report\n");
    CHECK(file.finish());
    CHECK(path.contents() == "the\nreport\n");
}

TEST_CASE("replaces a whole report only when it is whole") {
    const Path folder("report_file_test_folder.");
    std::filesystem::create_directory(folder.text);
    const Path path("report_file_test_folder." + std::to_string(::getpid()) + "/report.");
    const auto files = [&] {
        return std::distance(std::filesystem::directory_iterator(folder.text), {});
    };
    std::ofstream(path.text) << "the earlier report";
    {
        LogFile file(path.text, Content::whole_report);
        file.add_text("cut short");
        CHECK(path.contents() == "the earlier report");
        CHECK(files() == 2);
    }
    CHECK(path.contents() == "the earlier report");
    CHECK(files() == 1);
    LogFile file(path.text, Content::whole_report);
    file.add_text("the report\n");
    CHECK(file.finish());
    CHECK(path.contents() == "the report\n");
    CHECK(files() == 1);
}

TEST_CASE("writes a whole report through a link and into a pipe, and replaces neither") {
    const Path path("report_file_test.");
    const Path link("report_file_test_link.");
    const bool pipe = GENERATE(false, true);
    if (pipe)
        ::mkfifo(path.text.c_str(), 0600);
    else
        std::ofstream(path.text) << "before";
    std::filesystem::create_symlink(path.text, link.text);
    const int reader = ::open(path.text.c_str(), O_RDONLY | O_NONBLOCK);
    LogFile file(pipe ? path.text : link.text, Content::whole_report);
    file.add_text("the report\n");
    CHECK(file.finish());
    char bytes[32];
    CHECK(std::string(bytes, static_cast<std::size_t>(::read(reader, bytes, sizeof bytes))) ==
          "the report\n");
    CHECK(std::filesystem::is_symlink(link.text));
    CHECK(std::filesystem::is_fifo(path.text) == pipe);
    ::close(reader);
}

TEST_CASE("refuses a report that can't be opened with the reason, without waiting") {
    const Content content = GENERATE(Content::report, Content::whole_report);
    const Path pipe("report_file_test_pipe.");
    ::mkfifo(pipe.text.c_str(), 0600);
    CHECK(refusal("/no/report", content) ==
          "cannot write /no/report: No such file or directory");
    CHECK(refusal("/", content) == "cannot write /: Is a directory");
    CHECK(refusal(pipe.text, content)
              .starts_with("cannot write " + pipe.text + ": the pipe has no reader"));
}

TEST_CASE("names a report that can't be written, with the reason") {
    LogFile full("/dev/full", GENERATE(Content::report, Content::whole_report));
    full.add_text("the report\n");
    CHECK_FALSE(full.finish());
    CHECK(full.trouble() == "cannot write /dev/full: No space left on device");
}

TEST_CASE("names a whole report that can't take its place") {
    const Path path("report_file_test.");
    LogFile file(path.text, Content::whole_report);
    std::filesystem::create_directory(path.text);
    CHECK_FALSE(file.finish());
    CHECK(file.trouble() == "cannot write " + path.text + ": Is a directory");
}
