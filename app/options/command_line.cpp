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

bool share_word(const std::string& words, std::string_view others) {
    std::istringstream stream(words);
    for (std::string word; stream >> word;)
        if (contains_word(others, word)) return true;
    return false;
}

// Returns the named options as a user writes them, such as "--tls or --ws".
std::string alternatives(const std::string& names) {
    std::string text;
    std::istringstream stream(names);
    for (std::string name; stream >> name;) {
        text += text.empty() ? "" : " or ";
        if (name == "target" || name.ends_with("://"))
            text += name == "target" ? "a target" : "a " + name + " target";
        else
            text += (name.size() == 1 ? "-" : "--") + name;
    }
    return text;
}

// Reads the words of a command line from left to right.
class Reader {
public:
    Reader(std::vector<std::string> words, const std::vector<OptionGroup>& groups,
           const OtherProgram& other)
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
            const Option* const option = find(written);
            if (!option) refuse(written, find("-" + word) ? "-" + word : "");
            const std::string rest = word.substr(i + 1);
            if (!option->argument)
                apply(*option, written, "");
            else
                return apply(*option, written, rest.empty() ? take_argument(written) : rest);
        }
    }

    void read_name(const std::string& word) {
        const std::size_t end = word.find('=');
        const std::string written = word.substr(0, end);
        const Option* const option = find(written);
        if (!option) refuse(written, similar(written.substr(2)));
        if (end != word.npos && !option->argument)
            throw UsageError(written + " takes no value");
        if (end != word.npos) return apply(*option, written, word.substr(end + 1));
        apply(*option, written, option->argument ? take_argument(written) : "");
    }

    // Suggests the same command of the other program if that program may have all options.
    [[noreturn]] void refuse(const std::string& written, const std::string& meant) const {
        const auto listed = [](std::string_view names, const std::string& word) {
            const std::size_t dashes = std::min(word.find_first_not_of('-'), word.size());
            return dashes > 0 &&
                   contains_word(names, word.substr(dashes, word.find('=') - dashes));
        };
        if (!listed(other_.only_there, written))
            throw UsageError("unknown option " + written +
                             (meant.empty() ? "" : "; did you mean " + meant + "?"));
        std::string command = other_.name;
        for (const std::string& word : words_) command += " " + quoted(word);
        for (const std::string& word : words_)
            if (listed(other_.only_here, word)) command = std::string(other_.name) + " -h";
        throw WrongProgram(written + " is an option of " + other_.name + ": " + command);
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

    const Option* find(const std::string& written) const {
        for (const Option& option : options_)
            if ((option.name && written == "--" + std::string(option.name)) ||
                (option.letter != 0 && written == std::string("-") + option.letter))
                return &option;
        return nullptr;
    }

    // Returns the options with the most similar names, if any. Abbreviations are only
    // suggested, since a new option could change the meaning of one.
    std::string similar(const std::string& wanted) const {
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
        return names;
    }

    const std::vector<std::string> words_;
    const OtherProgram other_;
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

std::string CommandLine::written(std::string_view names) const {
    for (const GivenOption& each : given)
        if (share_word(each.names, names)) return each.written;
    return "";
}

void CommandLine::check() const {
    for (const GivenOption& each : given)
        for (const GivenOption& other : given)
            if (&each != &other && share_word(each.excludes, other.names))
                throw UsageError(each.written + " cannot be combined with " + other.written);
    for (const GivenOption& each : given) {
        if (each.needs.empty() || has(each.needs)) continue;
        const bool scheme_needed = each.needs == "tls" && has("ws://");
        throw UsageError(each.written + " needs " +
                         alternatives(scheme_needed ? "wss://" : each.needs));
    }
}

CommandLine parse_command_line(int argc, char* argv[], const std::vector<OptionGroup>& groups,
                               const OtherProgram& other) {
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
