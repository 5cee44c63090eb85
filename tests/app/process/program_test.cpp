#include "app/process/program.hpp"

#include "tests/app/refusal.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

using namespace yodel;
using test::contents;
using test::refusal;

namespace {

class Folder {
public:
    Folder() { REQUIRE(::mkdtemp(name_)); }
    ~Folder() { std::filesystem::remove_all(name_); }
    std::string path(const std::string& file) const { return name_ + ("/" + file); }

private:
    char name_[32] = "/tmp/yodel-program-XXXXXX";
};

std::string first_match(const std::string& file, const std::string& pattern) {
    const std::string text = contents(std::string(SOURCES) + "/" + file);
    std::smatch found;
    const std::regex wanted(pattern);
    return std::regex_search(text, found, wanted) ? found[1].str() : "";
}

}  // namespace

TEST_CASE("begins the version text with the project's version") {
    const std::string version =
        first_match("CMakeLists.txt", "project\\(yodel VERSION ([0-9.]+)");
    CHECK(version_text("yodeld", "poll").starts_with("yodeld " + version + "\n"));
}

TEST_CASE("has the project's version as the newest in the changelog") {
    CHECK(first_match("CHANGELOG.md", "## ([0-9][0-9.]*)\n") ==
          first_match("CMakeLists.txt", "project\\(yodel VERSION ([0-9.]+)"));
}

TEST_CASE("names OpenSSL, the sandbox and the backends in the version text") {
    const std::regex form("yodel [0-9.]+\n"
                          "OpenSSL 3\\.[0-9.]+, sandbox (landlock [0-9]+|none: .*)\n"
                          "backends epoll, poll; the first is the default\n");
    const std::string text = version_text("yodel", "epoll, poll");
    CAPTURE(text);
    CHECK(std::regex_match(text, form));
}

TEST_CASE("two outputs cannot be one file, whether it exists and whatever its name is") {
    const Folder folder;
    const std::string file = folder.path("file");
    const std::string other = folder.path(GENERATE("file", "./file", "link", "symbolic"));
    const bool exists =
        GENERATE(true, false) || other.ends_with("link") || other.ends_with("symbolic");
    if (exists) std::ofstream(file) << "old";
    if (exists) std::filesystem::create_hard_link(file, folder.path("link"));
    std::filesystem::create_symlink("file", folder.path("symbolic"));
    CAPTURE(other, exists);
    CHECK(refusal([&] {
              refuse_shared_outputs({{"-a", file}, {"-b", other}});
          }) == "-b " + other + " is the same file as -a");
    CHECK(refusal([&] { refuse_shared_outputs({{"-a", file}, {"-b", file + "2"}}); }) == "");
    CHECK(refusal([&] { refuse_shared_outputs({{"-a", ""}, {"-b", ""}}); }) == "");
    CHECK(refusal([&] {
              refuse_shared_outputs({{"-a", "/dev/null"}, {"-b", "/dev/null"}});
          }) == "");
}
