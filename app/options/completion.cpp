#include "app/options/completion.hpp"

#include "app/options/option_values.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace yodel {

namespace {

// What the scripts of the shells hold for an argument: the part of a branch in bash, the end of
// a specification in zsh, the options of a command in fish.
struct Argument {
    const char* bash;
    const char* zsh;
    const char* fish;
};

constexpr Argument no_argument = {"", "", ""};
constexpr Argument values = {" _@PROGRAM@_words \"@VALUES@\"", ":value:(@VALUES@)",
                             " -x -a '@VALUES@'"};
constexpr Argument files = {" _@PROGRAM@_paths -f", ":file:_files", " -r -F"};
constexpr Argument directories = {" _@PROGRAM@_paths -d", ":directory:_files -/",
                                  " -x -a '(__fish_complete_directories)'"};
constexpr Argument any_text = {"", ":argument: ", " -x"};

const Argument& argument_of(const Option& option) {
    if (!option.argument) return no_argument;
    if (!option.values.empty()) return values;
    const std::string_view name = option.argument;
    if (name == "DIR") return directories;
    return name == "FILE" || name == "PATH" || name == "FILE..." ? files : any_text;
}

bool takes_all_words(const Option& option) {
    return option.argument && std::string_view(option.argument) == "FILE...";
}

std::string joined(const std::vector<std::string>& words, const std::string& between = " ") {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

// Returns the ways to write the option, such as -f and --framing.
std::vector<std::string> spellings(const Option& option) {
    std::vector<std::string> list;
    if (option.letter != 0) list.push_back(std::string("-") + option.letter);
    if (option.name) list.push_back("--" + std::string(option.name));
    return list;
}

// Returns the text in single quotes, as all three shells read it.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char byte : text) result += byte == '\'' ? "'\\''" : std::string(1, byte);
    return result + "'";
}

template <class Function>
void for_each(const CompletionSpec& command, Function function) {
    for (const OptionGroup& group : command.options)
        for (const Option& option : group.options) function(option);
}

// Returns the text with each of the marks replaced, wherever it stands.
std::string filled(std::string text,
                   const std::vector<std::pair<std::string, std::string>>& marks) {
    for (const auto& [mark, value] : marks)
        for (std::size_t at = text.find(mark); at != text.npos;
             at = text.find(mark, at + value.size()))
            text.replace(at, mark.size(), value);
    return text;
}

// The spellings of the options after which all words are files, between bars.
std::string file_takers(const CompletionSpec& command) {
    std::vector<std::string> list;
    for_each(command, [&](const Option& option) {
        if (!takes_all_words(option)) return;
        for (const std::string& spelling : spellings(option)) list.push_back(spelling);
    });
    return joined(list, "|");
}

// bash: a function with a branch for each option that takes an argument. bash cuts --name=value
// into three words.

constexpr char bash_template[] = R"(# Completions of @PROGRAM@ for bash.
_@PROGRAM@_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}
_@PROGRAM@_paths() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}
_@PROGRAM@_takes_files() {
    local word
    for word in "${COMP_WORDS[@]}"; do
        case $word in @TAKERS@) return 0 ;; esac
    done
    return 1
}
_@PROGRAM@() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
    if [[ $current == '=' ]]; then current=; fi
    COMPREPLY=()
    case $previous in
@BRANCHES@    *)
        if [[ $current == -* ]]; then
            _@PROGRAM@_words "@OPTIONS@"
        elif _@PROGRAM@_takes_files; then
            _@PROGRAM@_paths -f
        else
            @OTHERS@
        fi
        ;;
    esac
}
complete -F _@PROGRAM@ @PROGRAM@
)";

std::string bash_branch(const Option& option) {
    if (!option.argument) return "";
    return "    " + joined(spellings(option), "|") + ")" +
           filled(argument_of(option).bash, {{"@VALUES@", joined(option.values)}}) + " ;;\n";
}

std::string bash_script(const CompletionSpec& command) {
    std::string branches;
    std::vector<std::string> options;
    for_each(command, [&](const Option& option) {
        branches += bash_branch(option);
        for (const std::string& spelling : spellings(option)) options.push_back(spelling);
    });
    const std::string takers = file_takers(command);
    return filled(
        bash_template,
        {{"@BRANCHES@", branches},
         {"@OPTIONS@", joined(options)},
         {"@TAKERS@", takers.empty() ? "''" : takers},
         {"@OTHERS@", command.hosts
                          ? "mapfile -t COMPREPLY < <(compgen -A hostname -- \"$current\")"
                          : ":"},
         {"@PROGRAM@", command.program}});
}

// zsh: a specification of each option for _arguments.

constexpr char zsh_template[] = R"(#compdef @PROGRAM@
# Completions of @PROGRAM@ for zsh.
local takers='@TAKERS@' words_are='@OTHERS@'
if [[ -n $takers && -n ${(M)words:#${~takers}} ]]; then words_are=file:_files; fi
_arguments -s -S@OPTIONS@ "*:$words_are"
)";

// Returns the description with what _arguments would take for its own syntax escaped.
std::string zsh_description(const std::string& help) {
    return filled(help, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

std::string zsh_option(const Option& option) {
    const std::string tail =
        quoted("[" + zsh_description(option.help) + "]" +
               filled(argument_of(option).zsh, {{"@VALUES@", joined(option.values)}}));
    const bool argument = option.argument;
    std::vector<std::string> forms;
    if (option.letter != 0)
        forms.push_back(std::string("-") + option.letter + (argument ? "+" : ""));
    if (option.name) forms.push_back("--" + std::string(option.name) + (argument ? "=" : ""));
    if (forms.size() == 1) return " \\\n    " + forms.front() + tail;
    return " \\\n    " + quoted("(" + joined(spellings(option)) + ")") + "{" +
           joined(forms, ",") + "}" + tail;
}

std::string zsh_script(const CompletionSpec& command) {
    std::string options;
    for_each(command, [&](const Option& option) { options += zsh_option(option); });
    return filled(zsh_template, {{"@OPTIONS@", options},
                                 {"@TAKERS@", file_takers(command)},
                                 {"@OTHERS@", command.hosts ? "host:_hosts" : "port: "},
                                 {"@PROGRAM@", command.program}});
}

// fish: a command for each option.

std::string fish_option(const CompletionSpec& command, const Option& option) {
    std::string line = "complete -c " + command.program;
    if (option.letter != 0) line += std::string(" -s ") + option.letter;
    if (option.name) line += " -l " + std::string(option.name);
    return line + filled(argument_of(option).fish, {{"@VALUES@", joined(option.values)}}) +
           " -d " + quoted(option.help) + "\n";
}

std::string fish_script(const CompletionSpec& command) {
    std::string text = "# Completions of " + command.program + " for fish.\ncomplete -c " +
                       command.program + " -f\n";
    if (command.hosts)
        text += "complete -c " + command.program + " -a '(__fish_print_hostnames)'\n";
    for_each(command, [&](const Option& option) {
        text += fish_option(command, option);
        if (takes_all_words(option))
            text += "complete -c " + command.program + " -n '__fish_contains_opt " +
                    option.name + "' -F\n";
    });
    return text;
}

struct Shell {
    const char* name;
    std::string (*script)(const CompletionSpec&);
};

constexpr Shell shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

}  // namespace

std::string completion_script(const std::string& shell, const CompletionSpec& command) {
    const auto* const found =
        std::find_if(std::begin(shells), std::end(shells),
                     [&](const Shell& each) { return shell == each.name; });
    return found->script(command);
}

std::vector<std::string> completed_shells() {
    std::vector<std::string> names;
    for (const Shell& shell : shells) names.emplace_back(shell.name);
    return names;
}

Option completion_option(std::string& shell) {
    std::vector<std::pair<std::string, std::string>> names;
    for (const std::string& name : completed_shells()) names.emplace_back(name, name);
    return {0,
            "completion",
            "SHELL",
            "print completions for bash, zsh or fish",
            into(shell, one_of(std::move(names))),
            0,
            0,
            completed_shells(),
            true};
}

}  // namespace yodel
