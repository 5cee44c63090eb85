#include "app/options/completion.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace yodel;
using test::contains;

namespace {

std::string script(const std::string& shell, const Option& option) {
    return completion_script(shell, {.program = "p", .options = {{"Group", {option}}}});
}

}  // namespace

TEST_CASE("help that contains a shell's syntax is quoted") {
    const Option option{.letter = 'x', .name = "xs", .help = "it's [a]: b"};
    CHECK(contains(script("zsh", option), "'(-x --xs)'{-x,--xs}'[it'\\''s \\[a\\]\\: b]'"));
    CHECK(contains(script("fish", option), "complete -c p -s x -l xs -d 'it'\\''s [a]: b'"));
    CHECK(contains(script("bash", option), "_p_words \"-x --xs\""));
}

TEST_CASE("the argument's name decides how it is completed") {
    const std::string name = GENERATE("FILE", "PATH", "FILE...");
    const Option file{.name = "f", .argument = name.c_str()};
    CHECK(contains(script("bash", file), "--f) _p_paths -f ;;"));
    CHECK(contains(script("zsh", file), "--f='[]:file:_files'"));
    CHECK(contains(script("fish", file), "-l f -r -F"));
    const Option directory{.name = "d", .argument = "DIR"};
    CHECK(contains(script("bash", directory), "--d) _p_paths -d ;;"));
    const Option text{.name = "t", .argument = "TEXT"};
    CHECK(contains(script("bash", text), "--t) ;;"));
    CHECK(contains(script("fish", text), "-l t -x -d"));
}

TEST_CASE("only a program with an option for all words completes files for them") {
    const Option some{.name = "f", .argument = "FILE"};
    const Option all{.name = "f", .argument = "FILE..."};
    CHECK(contains(script("bash", some), "case $word in '') return 0"));
    CHECK(contains(script("bash", all), "case $word in --f) return 0"));
    CHECK(contains(script("fish", all), "complete -c p -n '__fish_contains_opt f' -F"));
}

TEST_CASE("the option accepts exactly the shells with scripts") {
    std::string shell;
    const Option option = completion_option(shell);
    for (const std::string name : {"bash", "zsh", "fish"}) {
        option.apply(name);
        CHECK(shell == name);
    }
    CHECK_THROWS_AS(option.apply("sh"), UsageError);
}
