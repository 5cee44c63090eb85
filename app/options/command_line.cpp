#include "app/options/command_line.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace yodel {

namespace {

// Returns the smallest number of letters to insert, remove, replace, or swap with a neighbor,
// so that `from` becomes `to`.
std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> cost;  // between prefixes
    for (std::size_t i = 0; i <= from.size(); ++i)
        for (std::size_t j = 0; j <= to.size(); ++j) {
            std::size_t& least = cost[{i, j}];
            least = std::max(i, j);
            if (i == 0 || j == 0) continue;
            const bool is_same = from[i - 1] == to[j - 1];
            least = std::min({cost[{i - 1, j}] + 1, cost[{i, j - 1}] + 1,
                              cost[{i - 1, j - 1}] + (is_same ? 0 : 1)});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                least = std::min(least, cost[{i - 2, j - 2}] + 1);
        }
    return cost[{from.size(), to.size()}];
}

// Returns the word, quoted for a shell if necessary.
std::string quoted(const std::string& word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789-_=+:,./@%^";
    if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
    std::string text = "'";
    for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
    return text + "'";
}

// Returns the names in a list of names, without the reason that may follow them.
std::vector<std::string_view> names_in(std::string_view field) {
    field = field.substr(0, field.find(','));
    std::vector<std::string_view> names;
    for (std::size_t begin = 0, end = 0; begin < field.size(); begin = end + 1) {
        end = std::min(field.find(' ', begin), field.size());
        if (end > begin) names.push_back(field.substr(begin, end - begin));
    }
    return names;
}

bool share_a_name(std::string_view field, std::string_view other) {
    const std::vector<std::string_view> names = names_in(field);
    const std::vector<std::string_view> others = names_in(other);
    return std::find_first_of(names.begin(), names.end(), others.begin(), others.end()) !=
           names.end();
}

std::string reason_in(const std::string& field) {
    return field.substr(std::min(field.find(','), field.size()));
}

// Returns the names and the reason in words, such as "--tls or --ws" or "a port, as in -l
// 7000".
std::string alternatives(const std::string& field) {
    std::string text;
    for (const std::string_view word : names_in(field)) {
        const std::string name(word);
        text += text.empty() ? "" : " or ";
        if (name == "target" || name == "port")
            text += "a " + name;
        else if (name.ends_with("://"))
            text += "a " + name + " target";
        else
            text += (name.size() == 1 ? "-" : "--") + name;
    }
    return text + reason_in(field);
}

const Option* find_option(const std::vector<Option>& table, std::string_view written) {
    const bool is_long = written.starts_with("--");
    for (const Option& option : table)
        if (is_long ? option.has_name() && option.name() == written.substr(2)
                    : option.label.starts_with(written))
            return &option;
    return nullptr;
}

class CommandLineReader {
public:
    CommandLineReader(std::vector<std::string> words, const std::vector<Option>& table,
                      const OtherProgram& other)
        : words_(std::move(words)), table_(table), other_(other) {}

    CommandLine read() {
        while (!is_done_ && next_ < words_.size()) {
            const std::string& word = words_[next_++];
            if (word == "--")
                while (next_ < words_.size()) result_.operands.push_back(words_[next_++]);
            else if (word.size() < 2 || !word.starts_with('-'))
                result_.operands.push_back(word);
            else if (word.starts_with("--"))
                read_name(word);
            else
                read_letters(word);
        }
        return std::move(result_);
    }

private:
    void read_name(const std::string& word) {
        const std::size_t end = word.find('=');
        const std::string written = word.substr(0, end);
        const Option* const option = find_option(table_, written);
        if (!option) refuse(written, similar(written.substr(2)));
        if (end == word.npos) return apply(*option, written, std::nullopt);
        if (option->argument().empty()) throw UsageError(written + " takes no value");
        apply(*option, written, word.substr(end + 1));
    }

    // Several letters may share a word. The argument of an option is the rest of the word or,
    // if nothing is left, the next word.
    void read_letters(const std::string& word) {
        for (std::size_t i = 1; i < word.size() && !is_done_; ++i) {
            const std::string written = std::string("-") + word[i];
            const Option* const option = find_option(table_, written);
            if (!option) refuse(written, find_option(table_, "-" + word) ? "-" + word : "");
            const bool has_rest = !option->argument().empty() && i + 1 < word.size();
            if (has_rest) return apply(*option, written, word.substr(i + 1));
            apply(*option, written, std::nullopt);
        }
    }

    // Refuses an unknown option. If the other program has the option, suggests the same command
    // for that program, or its help if that program cannot parse the command, either.
    [[noreturn]] void refuse(const std::string& written, const std::string& meant) const {
        if (!find_option(other_.table, written))
            throw UsageError("unknown option " + written +
                             (meant.empty() ? "" : "; did you mean " + meant + "?"));
        std::string command = other_.name;
        for (const std::string& word : words_) command += " " + quoted(word);
        try {
            CommandLineReader(words_, other_.table, {}).read();
        } catch (const UsageError&) {
            command = std::string(other_.name) + " -h";
        }
        throw WrongProgram(written + " is an option of " + other_.name + ": " + command);
    }

    // The option's argument, if it takes one, is `value` or, without a `value`, the next word.
    // Prefixes an error about the argument with the option as the user wrote it.
    void apply(const Option& option, const std::string& written,
               std::optional<std::string> value) {
        if (!option.argument().empty() && !value) {
            if (next_ == words_.size()) throw UsageError(written + " needs an argument");
            value = words_[next_++];
        }
        if (value && value->empty()) throw UsageError(written + " needs a non-empty argument");
        try {
            if (option.apply) option.apply(value.value_or(""));
        } catch (const UsageError& error) {
            throw UsageError(written + ": " + error.what());
        }
        const std::string names = std::string(option.name()) + " ";
        result_.given.push_back({written, names + std::string(option.implies),
                                 std::string(option.excludes), std::string(option.needs)});
        is_done_ = result_.has("help version");
    }

    // Returns the options with the most similar names, if any is similar enough. An
    // abbreviation is only used for a suggestion, because a new option could change its
    // meaning.
    std::string similar(const std::string& wanted) const {
        std::size_t nearest = std::max<std::size_t>(1, wanted.size() / 3);
        std::string names;
        for (const Option& option : table_) {
            if (!option.has_name() || wanted.empty()) continue;
            const std::string name(option.name());
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
    const std::vector<Option>& table_;
    const OtherProgram& other_;
    std::size_t next_ = 0;
    bool is_done_ = false;
    CommandLine result_;
};

}  // namespace

std::string_view Option::name() const {
    if (!has_name()) return label.substr(1, 1);
    const std::string_view name = label.substr(label.find("--") + 2);
    return name.substr(0, name.find('='));
}

std::string_view Option::argument() const {
    const std::size_t end = label.find(has_name() ? '=' : ' ');
    return end == label.npos ? "" : label.substr(end + 1);
}

std::string CommandLine::written(std::string_view names) const {
    for (const GivenOption& each : given)
        if (share_a_name(each.names, names)) return each.written;
    return "";
}

void CommandLine::check() const {
    for (const GivenOption& each : given)
        for (const GivenOption& other : given) {
            const bool is_all_but = each.excludes.starts_with('!');
            const bool is_named =
                share_a_name(each.excludes.substr(is_all_but ? 1 : 0), other.names);
            if (&each != &other && is_named != is_all_but)
                throw UsageError(each.written + " cannot be combined with " + other.written +
                                 reason_in(each.excludes));
        }
    for (const GivenOption& each : given) {
        if (each.needs.empty() || has(each.needs)) continue;
        const bool needs_scheme = each.needs == "tls" && has("ws://");
        throw UsageError(each.written + " needs " +
                         alternatives(needs_scheme ? "wss://" : each.needs));
    }
}

CommandLine parse_command_line(int argc, char* argv[], const std::vector<Option>& table,
                               const OtherProgram& other) {
    const int first = std::min(argc, 1);  // the program's name may be missing
    return CommandLineReader({argv + first, argv + argc}, table, other).read();
}

// The form is the same as in GNU programs, because shells derive completions from it.
std::string help_text(const std::vector<Option>& table) {
    const auto indented = [](const Option& option) {
        return (option.label.starts_with("--") ? "      " : "  ") + std::string(option.label);
    };
    std::size_t width = 0;
    for (const Option& option : table)
        if (!option.is_heading()) width = std::max(width, indented(option).size() + 2);
    std::string text;
    for (const Option& option : table) {
        if (option.is_heading()) text += std::string(option.label) + "\n";
        if (option.help.empty()) continue;
        const std::string left = indented(option);
        text += left + std::string(width - left.size(), ' ') + std::string(option.help) + "\n";
    }
    return text;
}

std::vector<Option> joined(std::initializer_list<std::vector<Option>> tables) {
    std::vector<Option> all;
    for (const std::vector<Option>& each : tables)
        all.insert(all.end(), each.begin(), each.end());
    return all;
}

std::vector<Option> common_options() {
    return {{"--no-sandbox", "do not enter the sandbox; see the manual"},
            {"-h, --help", "print this text"},
            {"-V, --version", "print version and libraries"}};
}

std::string argument_help(bool must_echo) {
    return "F: " + join(framing_list(must_echo), " ") +
           "\nD: seconds, or a number with us, ms, s, m or h; SIZE: bytes, or with k, M or G\n";
}

const Framing* framing_value(const std::string& text, bool must_echo) {
    const Framing* const found = find_framing(text);
    if (!found || !found->is_option() || (must_echo && !found->can_echo()))
        throw UsageError(in_quotes(text) + " is not a framing" +
                         (must_echo ? " that can be echoed" : "") + "; the framings are " +
                         join(framing_list(must_echo), ", "));
    return found;
}

}  // namespace yodel
