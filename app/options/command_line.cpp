#include "app/options/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

namespace yodel {

namespace {

// Returns the number of letters to insert, remove, replace, or swap with a neighbor, so that
// `from` becomes `to`.
std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> before;
    std::vector<std::size_t> last(to.size() + 1);
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(last.begin(), last.end(), 0);
    for (std::size_t i = 1; i <= from.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const bool same = from[i - 1] == to[j - 1];
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = std::exchange(last, row);
    }
    return last.back();
}

// Returns the word, quoted for a shell if necessary.
std::string quoted(const std::string& word) {
    const auto plain = [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
               std::string_view("-_=+:,./@%^").find(letter) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
    std::string text = "'";
    for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
    return text + "'";
}

bool contains_word(std::string_view words, std::string_view word) {
    const std::string padded = " " + std::string(words) + " ";
    return !word.empty() && padded.find(" " + std::string(word) + " ") != padded.npos;
}

// Reads the words of a command line from left to right.
class Reader {
public:
    Reader(std::vector<std::string> words, const std::vector<OptionGroup>& groups,
           OtherProgram (*other)())
        : words_(std::move(words)), other_(other) {
        for (const OptionGroup& group : groups)
            for (const Option& option : group.options) {
                Option& row = options_.emplace_back(option);
                if (!row.excludes) row.excludes = group.excludes;
                if (!row.needs) row.needs = group.needs;
            }
    }

    CommandLine read() {
        bool options_ended = false;
        while (!done_ && next_ < words_.size()) {
            const std::string& word = words_[next_++];
            if (options_ended || word.size() < 2 || !word.starts_with('-')) {
                result_.operands.push_back(word);
            } else if (word == "--") {
                options_ended = true;
            } else if (word.starts_with("--")) {
                read_name(word);
            } else {
                read_letters(word);
            }
        }
        return std::move(result_);
    }

private:
    // Several letters may share a word. The argument of an option is the rest of the word or,
    // if nothing is left, the next word.
    void read_letters(const std::string& word) {
        for (std::size_t i = 1; i < word.size() && !done_; ++i) {
            const std::string written = std::string("-") + word[i];
            const Option* const option = find_letter(word[i]);
            if (!option) {
                refuse_option_of_other_program(written);
                const bool one_dash = find_name(word.substr(1)) != nullptr;
                throw UsageError("unknown option " + written +
                                 (one_dash ? "; did you mean -" + word + "?" : ""));
            }
            if (!option->argument) {
                apply(*option, written, "");
                continue;
            }
            const std::string rest = word.substr(i + 1);
            return apply(*option, written, rest.empty() ? take_argument(written) : rest);
        }
    }

    void read_name(const std::string& word) {
        const std::size_t end = word.find('=');
        const std::string written = word.substr(0, end);
        const Option* const option = find_name(written.substr(2));
        if (!option) {
            refuse_option_of_other_program(written);
            throw UsageError("unknown option " + written + suggestion(written));
        }
        if (end == word.npos)
            return apply(*option, written, option->argument ? take_argument(written) : "");
        if (!option->argument) throw UsageError(written + " takes no value");
        apply(*option, written, word.substr(end + 1));
    }

    // Throws if the other program has the option. Suggests the same command only if that
    // program accepts all of it.
    void refuse_option_of_other_program(const std::string& written) const {
        if (!other_) return;
        const OtherProgram other = other_();
        Reader there(words_, other.options, nullptr);
        if (!(written[1] == '-' ? there.find_name(written.substr(2))
                                : there.find_letter(written[1])))
            return;
        std::string command = other.name;
        for (const std::string& word : words_) command += " " + quoted(word);
        try {
            there.read();
        } catch (const UsageError&) {
            command = other.name + " -h";
        }
        throw WrongProgram(written + " is an option of " + other.name + ": " + command);
    }

    std::string take_argument(const std::string& written) {
        if (next_ == words_.size()) throw UsageError(written + " needs an argument");
        return words_[next_++];
    }

    // Prefixes an error about the value with the option as the user wrote it.
    void apply(const Option& option, const std::string& written, const std::string& value) {
        if (option.argument && value.empty())
            throw UsageError(written + " needs a non-empty argument");
        try {
            option.apply(value);
        } catch (const UsageError& error) {
            throw UsageError(written + ": " + error.what());
        }
        const std::string name = option.name ? option.name : std::string(1, option.letter);
        result_.given.push_back(
            {written, name + " " + option.implies, option.excludes, option.needs});
        done_ = option.ends_parsing;
    }

    const Option* find_letter(char letter) const {
        for (const Option& option : options_)
            if (option.letter == letter) return &option;
        return nullptr;
    }

    const Option* find_name(const std::string& name) const {
        for (const Option& option : options_)
            if (option.name && option.name == name) return &option;
        return nullptr;
    }

    // Abbreviations are not accepted, since a new option could change the meaning of one.
    std::string suggestion(const std::string& written) const {
        const std::string wanted = written.substr(2);
        std::size_t nearest = std::max<std::size_t>(1, wanted.size() / 3);
        std::string names;
        for (const Option& option : options_) {
            if (!option.name || wanted.empty()) continue;
            const std::string name = option.name;
            const std::size_t distance =
                name.starts_with(wanted) ? 0 : edit_distance(wanted, name);
            if (distance > nearest) continue;
            if (distance < nearest) names.clear();
            nearest = distance;
            names += (names.empty() ? "--" : " or --") + name;
        }
        return names.empty() ? "" : "; did you mean " + names + "?";
    }

    const std::vector<std::string> words_;
    OtherProgram (*const other_)();
    std::vector<Option> options_;
    std::size_t next_ = 0;
    bool done_ = false;
    CommandLine result_;
};

// The form is the same as in GNU programs, because shells derive completions from it.
std::string label(const Option& option) {
    std::string text = option.letter != 0 ? std::string("-") + option.letter : "  ";
    if (option.name) text += (option.letter != 0 ? ", --" : "  --") + std::string(option.name);
    if (option.argument) text += (option.name ? "=" : " ") + std::string(option.argument);
    return text;
}

}  // namespace

std::string given_with(const std::vector<GivenOption>& given, std::string_view facts) {
    std::string fact;
    for (const GivenOption& each : given)
        for (std::istringstream words(each.facts); words >> fact;)
            if (contains_word(facts, fact)) return each.written;
    return "";
}

void check_given(const std::vector<GivenOption>& given) {
    for (const GivenOption& each : given) {
        const std::string other = given_with(given, each.excludes);
        if (!other.empty())
            throw UsageError(each.written + " cannot be combined with " + other);
    }
    for (const GivenOption& each : given) {
        if (each.needs.empty() || !given_with(given, each.needs).empty()) continue;
        std::string needed = "--" + each.needs;
        if (each.needs == "udp") needed = "-u";
        if (each.needs == "ws") needed = "a ws:// or wss:// target";
        if (each.needs == "tls" && given_with(given, "ws") == "ws://")
            needed = "a wss:// target";
        throw UsageError(each.written + " needs " + needed);
    }
}

CommandLine parse_command_line(int argc, char* argv[], const std::vector<OptionGroup>& groups,
                               OtherProgram (*other)()) {
    const int first = std::min(argc, 1);  // the program's name may be missing
    return Reader({argv + first, argv + argc}, groups, other).read();
}

std::string help_text(const std::vector<OptionGroup>& groups) {
    std::size_t width = 0;
    for (const OptionGroup& group : groups)
        for (const Option& option : group.options)
            width = std::max(width, label(option).size());
    std::string text;
    for (const OptionGroup& group : groups) {
        text += std::string(group.title) + ":\n";
        for (const Option& option : group.options) {
            if (*option.help == '\0') continue;
            const std::string left = label(option);
            text +=
                "  " + left + std::string(width - left.size() + 2, ' ') + option.help + "\n";
        }
    }
    return text;
}

}  // namespace yodel
