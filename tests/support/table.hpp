// Tables of inputs and outcomes in a text, and scripts of steps.
#pragma once

#include "tests/support/catch.hpp"

namespace test {

// Checks the rows of a table, "INPUT => OUTCOME". The outcome of a long input is in a line of
// its own.
template <class Outcome>
void check_table(const std::string& table, Outcome outcome) {
    std::istringstream lines(table);
    std::string input;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t arrow = line.find("=>");
        input += line.substr(0, arrow);
        if (arrow == line.npos) continue;
        input.erase(input.find_last_not_of(' ') + 1);
        CAPTURE(input);
        CHECK(outcome(input) == line.substr(std::min(arrow + 3, line.size())));
        input.clear();
    }
    CHECK(input.empty());
}

// Plays the steps of a script, "VERB REST; VERB REST => OUTCOME". Checks each stated outcome.
// `verbs` lists the verbs that the test knows besides times such as "+5s".
template <class Step>
void play_script(const std::string& script, const std::string& verbs, Step make_step) {
    for (std::size_t at = 0; at < script.size();) {
        const std::size_t end =
            std::min({script.find("; ", at), script.find(";\n", at), script.size()});
        const std::string step = script.substr(at, end - at);
        const std::size_t arrow = std::min(step.find(" =>"), step.size());
        const std::size_t space = std::min(step.find(' '), arrow);
        const std::size_t rest = std::min(space + 1, arrow);
        CAPTURE(script, step);
        const std::string verb = step.substr(0, space);
        REQUIRE((verb[0] == '+' || (verbs + " ").find(verb + " ") != verbs.npos));
        const std::string outcome = make_step(verb, step.substr(rest, arrow - rest));
        if (arrow < step.size())
            CHECK(outcome == step.substr(std::min(arrow + 4, step.size())));
        at = std::min(script.find_first_not_of(" \n", end + 1), script.size());
    }
}

}  // namespace test
