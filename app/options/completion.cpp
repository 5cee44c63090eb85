#include "app/options/completion.hpp"

#include "app/options/option_values.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace yodel {

namespace {

// The text for an argument in each script: the body of a branch in bash, the end of a
// specification in zsh, the options of a command in fish.
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

// Returns the spellings of the option, such as -f and --framing.
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
void for_each(const CompletionSpec& spec, Function function) {
    for (const OptionGroup& group : spec.options)
        for (const Option& option : group.options) function(option);
}

// Returns the text with all marks replaced.
std::string filled(std::string text,
                   const std::vector<std::pair<std::string, std::string>>& marks) {
    for (const auto& [mark, value] : marks)
        for (std::size_t at = text.find(mark); at != text.npos;
             at = text.find(mark, at + value.size()))
            text.replace(at, mark.size(), value);
    return text;
}

// Returns the text for the option's argument in the shell's script.
std::string argument(const Option& option, const char* Argument::*shell) {
    return filled(argument_of(option).*shell, {{"@VALUES@", joined(option.values, " ")}});
}

// Returns the options after which all words are files, in all spellings, separated by bars.
std::string file_options(const CompletionSpec& spec) {
    std::vector<std::string> list;
    for_each(spec, [&](const Option& option) {
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

std::string bash_script(const CompletionSpec& spec) {
    std::string branches;
    std::vector<std::string> options;
    for_each(spec, [&](const Option& option) {
        const std::vector<std::string> names = spellings(option);
        options.insert(options.end(), names.begin(), names.end());
        if (option.argument)
            branches +=
                "    " + joined(names, "|") + ")" + argument(option, &Argument::bash) + " ;;\n";
    });
    const std::string takers = file_options(spec);
    return filled(
        bash_template,
        {{"@BRANCHES@", branches},
         {"@OPTIONS@", joined(options, " ")},
         {"@TAKERS@", takers.empty() ? "''" : takers},
         {"@OTHERS@",
          spec.hosts ? "mapfile -t COMPREPLY < <(compgen -A hostname -- \"$current\")" : ":"},
         {"@PROGRAM@", spec.program}});
}

// zsh: a specification of each option for _arguments.

constexpr char zsh_template[] = R"(#compdef @PROGRAM@
# Completions of @PROGRAM@ for zsh.
local takers='@TAKERS@' words_are='@OTHERS@'
if [[ -n $takers && -n ${(M)words:#${~takers}} ]]; then words_are=file:_files; fi
_arguments -s -S@OPTIONS@ "*:$words_are"
)";

std::string zsh_option(const Option& option) {
    // Escapes the syntax of _arguments.
    const std::string help =
        filled(option.help, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
    const std::string tail = quoted("[" + help + "]" + argument(option, &Argument::zsh));
    std::vector<std::string> forms = spellings(option);
    for (std::string& form : forms)
        if (option.argument) form += form.starts_with("--") ? "=" : "+";
    if (forms.size() == 1) return " \\\n    " + forms.front() + tail;
    return " \\\n    " + quoted("(" + joined(spellings(option), " ") + ")") + "{" +
           joined(forms, ",") + "}" + tail;
}

std::string zsh_script(const CompletionSpec& spec) {
    std::string options;
    for_each(spec, [&](const Option& option) { options += zsh_option(option); });
    return filled(zsh_template, {{"@OPTIONS@", options},
                                 {"@TAKERS@", file_options(spec)},
                                 {"@OTHERS@", spec.hosts ? "host:_hosts" : "port: "},
                                 {"@PROGRAM@", spec.program}});
}

// fish: a command for each option.

std::string fish_script(const CompletionSpec& spec) {
    const std::string complete = "complete -c " + spec.program;
    std::string text = "# Completions of " + spec.program + " for fish.\n" + complete + " -f\n";
    if (spec.hosts) text += complete + " -a '(__fish_print_hostnames)'\n";
    for_each(spec, [&](const Option& option) {
        text += complete;
        if (option.letter != 0) text += std::string(" -s ") + option.letter;
        if (option.name) text += " -l " + std::string(option.name);
        text += argument(option, &Argument::fish) + " -d " + quoted(option.help) + "\n";
        if (takes_all_words(option))
            text += complete + " -n '__fish_contains_opt " + option.name + "' -F\n";
    });
    return text;
}

struct Shell {
    const char* name;
    std::string (*script)(const CompletionSpec&);
};

constexpr Shell shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

}  // namespace

std::string completion_script(const std::string& shell, const CompletionSpec& spec) {
    const auto* const found =
        std::find_if(std::begin(shells), std::end(shells),
                     [&](const Shell& each) { return shell == each.name; });
    return found->script(spec);
}

Option completion_option(std::string& shell) {
    std::vector<std::string> names;
    std::vector<std::pair<std::string, std::string>> choices;
    for (const Shell& each : shells) {
        names.emplace_back(each.name);
        choices.emplace_back(each.name, each.name);
    }
    return {.name = "completion",
            .argument = "SHELL",
            .help = "print completions for bash, zsh or fish",
            .apply = into(shell, one_of(std::move(choices))),
            .values = std::move(names),
            .last = true};
}

}  // namespace yodel
