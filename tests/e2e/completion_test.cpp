// Completions as each shell computes them, installed in the directory that it searches.
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <filesystem>

using namespace test;

namespace {

constexpr const char* bash_completion = "/usr/share/bash-completion/bash_completion";

// An empty folder for a test.
class Folder {
public:
    Folder() { REQUIRE(::mkdtemp(path_.data())); }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string path(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_ = std::filesystem::temp_directory_path() / "yodel-test-XXXXXX";
};

struct Shell {
    std::vector<std::string> command;
    std::string set_up;
};

// Types the words and a tab, and waits for what the shell makes of them. A tab that comes
// before the words are drawn may only list the completions.
void complete(Tty& tty, const std::string& words, const std::string& shown) {
    tty.send(words);
    REQUIRE(tty.wait_for("> " + words));
    tty.send("\t");
    const bool found = tty.wait_for("> " + shown);
    CAPTURE(tty.screen(), shown);
    CHECK(found);
    tty.send("\x15");
    REQUIRE(tty.wait_for([&] { return !tty.shows(shown); }));
}

}  // namespace

TEST_CASE("shells complete options and files") {
    const Folder folder;
    const Shell shell = GENERATE(
        Shell{{"bash", "--norc", "-i"},
              "bind 'set bell-style none'; . " + std::string(bash_completion)},
        Shell{{"zsh", "-f", "-i"},
              "LISTMAX=999; fpath=(~/share/zsh/site-functions $fpath); "
              "autoload -Uz compinit; compinit -u -D"},
        Shell{{"fish", "-i"}, "function fish_prompt; echo '> '; end; set fish_greeting"});
    const std::string& name = shell.command[0];
    CAPTURE(name);
    if (std::system(("command -v " + name + " >/dev/null").c_str()) != 0 ||
        (name == "bash" && !std::filesystem::exists(bash_completion))) {
        WARN("skipped: there is no " << name << ", or no bash-completion");
        return;
    }
    const std::string install = CMAKE " --install " BUILD " --component completions --prefix ";
    REQUIRE(std::system((install + folder.path("") + " >/dev/null").c_str()) == 0);
    std::ofstream(folder.path("one.json"));

    std::vector<std::string> arguments = {"env", "HOME=" + folder.path("")};
    arguments.insert(arguments.end(), shell.command.begin(), shell.command.end());
    Tty tty({.arguments = arguments,
             .environment = {"PS1=> ", "XDG_DATA_DIRS=" + folder.path("share") + ":/usr/share",
                             "PATH=" BUILD ":" + std::string(std::getenv("PATH"))},
             .size = {50, 120}});
    REQUIRE(tty.wait_for(
        [&] { return tty.screen().find_first_not_of(" \n") != std::string::npos; }));
    tty.send("cd; " + shell.set_up + "; clear; echo rea''dy\r");
    REQUIRE(tty.wait_for([&] { return tty.row(0) == "ready" && tty.row(1) == ">"; }));
    complete(tty, "yodel --fram", "yodel --framing");
    complete(tty, "yodel --replay one", "yodel --replay one.json");
    complete(tty, "yodel-load --arr", "yodel-load --arrivals");
    complete(tty, "yodel-load --messages=one", "yodel-load --messages=one.json");
    complete(tty, "yodeld --self", "yodeld --self-signed");
    tty.send("\x04");
    CHECK(tty.wait_exit());
}
