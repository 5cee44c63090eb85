// Completions as the shells themselves compute them.
#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace test;

namespace {

std::vector<std::string> sorted_lines(const std::string& text) {
    std::vector<std::string> list;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        list.push_back(line.substr(0, line.find('\t')));  // fish adds the description
    std::sort(list.begin(), list.end());
    return list;
}

// A folder with the scripts, and with files to complete.
class Scripts {
public:
    Scripts() {
        for (const std::string& program : {yodel, yodeld})
            for (const char* shell : {"bash", "zsh", "fish"}) {
                const std::string name = program.substr(program.rfind('/') + 1);
                std::ofstream(folder_.path("_" + name + (shell[0] == 'z' ? "" : shell)))
                    << run({program, "--completion", shell}).output;
            }
        for (const char* name : {"one end.json", "other.json"})
            std::ofstream(folder_.path(name));
    }

    std::vector<std::string> bash(const std::string& words) const {
        std::istringstream stream(words);
        std::string word;
        std::string list;
        int count = 0;
        const auto add = [&](const std::string& one) {
            list += "'" + one + "' ";
            ++count;
        };
        while (stream >> word) add(word);
        if (words.back() == ' ') add("");
        const std::string program = words.substr(0, words.find(' '));
        return sorted_lines(
            shell({"bash", "-c",
                   "cd '" + folder_.path("") + "' && . ./_" + program + "bash && COMP_WORDS=(" +
                       list + ") COMP_CWORD=" + std::to_string(count - 1) + " && _" + program +
                       " && printf '%s\\n' \"${COMPREPLY[@]}\""}));
    }

    std::vector<std::string> fish(const std::string& words) const {
        const std::string program = words.substr(0, words.find(' '));
        return sorted_lines(shell({"env", "HOME=" + folder_.path(""), "fish", "-N", "-c",
                                   "cd '" + folder_.path("") + "' && source ./_" + program +
                                       "fish && complete -C '" + words + "'"}));
    }

    std::string folder() const { return folder_.path(""); }

private:
    static std::string shell(const std::vector<std::string>& command) {
        const Outcome outcome = run(command);
        CAPTURE(outcome.errors);
        CHECK(outcome.errors.empty());
        return outcome.output;
    }

    Folder folder_;
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("bash completes options, their values, and files") {
    const Scripts scripts;
    CHECK(scripts.bash("yodel --fram") == Words{"--framing"});
    CHECK(scripts.bash("yodel -f len2") == Words{"len2", "len2le"});
    CHECK(scripts.bash("yodel --framing = len4l") == Words{"len4le"});
    CHECK(scripts.bash("yodel --expect ") == Words{"any", "echo", "none"});
    CHECK(scripts.bash("yodel --threads ") == Words{"auto"});
    CHECK(scripts.bash("yodel --retry ") == Words{"forever"});
    CHECK(scripts.bash("yodeld --threads ") == Words{"auto"});
    CHECK(scripts.bash("yodel --messages o") == Words{"one end.json", "other.json"});
    CHECK(scripts.bash("yodel --merge one oth") == Words{"other.json"});
    CHECK(scripts.bash("yodel --rate ") == Words{""});
    CHECK(scripts.bash("yodeld --self") == Words{"--self-signed"});
    CHECK(scripts.bash("yodeld 70") == Words{""});
}

TEST_CASE("fish completes options, their values, and files") {
    const Scripts scripts;
    CHECK(scripts.fish("yodel --frami") == Words{"--framing"});
    CHECK(scripts.fish("yodel -f len2") == Words{"len2", "len2le"});
    CHECK(scripts.fish("yodel --framing=len4l") == Words{"--framing=len4le"});
    CHECK(scripts.fish("yodel --expect ") == Words{"any", "echo", "none"});
    CHECK(scripts.fish("yodel --threads ") == Words{"auto"});
    CHECK(scripts.fish("yodel --messages ot") == Words{"other.json"});
    CHECK(scripts.fish("yodel --merge one oth") == Words{"other.json"});
    CHECK(scripts.fish("yodeld --self") == Words{"--self-signed"});
}

TEST_CASE("zsh completes options, their values, and files") {
    const Scripts scripts;
    Tty tty({.arguments = {"env", "HOME=" + scripts.folder(), "PS1=> ", "zsh", "-f", "-i"},
             .size = {24, 100}});
    REQUIRE(tty.wait_for(">"));
    tty.send("cd; LISTMAX=999; fpath=(~ $fpath); autoload -Uz compinit; compinit -u -D; "
             "echo rea''dy\r");
    REQUIRE(tty.wait_for("\nready"));
    // A tab that comes before the words are drawn may only list the completions.
    const auto complete = [&](const std::string& words, const std::string& shown) {
        tty.send(words);
        REQUIRE(tty.wait_for(
            words.substr(words.find_first_not_of('\x15'), words.find_last_not_of(' ') + 1)));
        tty.send("\t");
        const bool found = tty.wait_for(shown);
        CAPTURE(tty.screen(), shown);
        CHECK(found);
    };
    complete("yodel --fram", "> yodel --framing=");
    complete("len4l", "> yodel --framing=len4le");
    complete("--expect ", "any   echo  none");
    complete("n", "--expect none");
    complete("--messages ot", "--expect none --messages other.json");
    complete("\x15yodel --merge other.json on", "> yodel --merge other.json one\\ end.json");
    complete("\x15yodeld --self", "--self-signed");  // inserted, or in a list
    tty.send("\x15"
             "exit\r");
    CHECK(tty.wait_exit());
}

TEST_CASE("the descriptions of completions name only existing options") {
    const std::string program = GENERATE(yodel, yodeld);
    CHECK(!contains(run({program, "--completion", "fish"}).output, "below"));
}

TEST_CASE("an unknown shell is refused") {
    const Outcome outcome = run({yodel, "--completion", "tcsh"});
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors, "--completion: \"tcsh\" is not one of bash, zsh, fish"));
    CHECK(outcome.output.empty());
}
