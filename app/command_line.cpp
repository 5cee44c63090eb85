#include "app/command_line.hpp"

#include <fcntl.h>
#include <getopt.h>

#include <algorithm>

namespace yodel {

namespace {

// What getopt_long returns for the row with this index, where it has no letter.
constexpr int first_code = 256;

int code(const std::vector<Option>& options, std::size_t i) {
    return options[i].letter != 0 ? options[i].letter : first_code + static_cast<int>(i);
}

std::string letters(const std::vector<Option>& options) {
    std::string all = ":";  // a missing argument is told as ':'
    for (const Option& option : options) {
        if (option.letter == 0) continue;
        all += option.letter;
        if (option.argument) all += ':';
    }
    return all;
}

std::vector<option> names(const std::vector<Option>& options) {
    std::vector<option> all;
    for (std::size_t i = 0; i < options.size(); ++i)
        if (options[i].name)
            all.push_back({options[i].name,
                           options[i].argument ? required_argument : no_argument, nullptr,
                           code(options, i)});
    all.push_back({nullptr, 0, nullptr, 0});
    return all;
}

// The option as the user wrote it.
std::string written(char* argv[]) {
    const std::string before = argv[optind - 1];
    if (before.starts_with("--") || optopt == 0 || optopt >= first_code) return before;
    return std::string("-") + static_cast<char>(optopt);
}

void check_argument(const Option& option) {
    if (!optarg || *optarg != '\0') return;
    throw UsageError(
        (option.name ? "--" + std::string(option.name) : std::string("-") + option.letter) +
        " needs an argument that is not empty");
}

std::string label(const Option& option) {
    std::string text = option.letter != 0 ? std::string("-") + option.letter : "  ";
    if (option.name) text += (option.letter != 0 ? ", --" : "  --") + std::string(option.name);
    if (option.argument) text += std::string(" ") + option.argument;
    return text;
}

}  // namespace

std::vector<std::string> parse_command_line(int argc, char* argv[],
                                            const std::vector<Option>& options) {
    const std::string short_options = letters(options);
    const std::vector<option> long_options = names(options);
    opterr = 0;
    int found = 0;
    while ((found = ::getopt_long(argc, argv, short_options.c_str(), long_options.data(),
                                  nullptr)) != -1) {
        if (found == ':') throw UsageError(written(argv) + " needs an argument");
        if (found == '?') throw UsageError("there is no option " + written(argv));
        for (std::size_t i = 0; i < options.size(); ++i) {
            if (code(options, i) != found) continue;
            check_argument(options[i]);
            options[i].apply(optarg ? optarg : "");
        }
    }
    return {argv + optind, argv + argc};
}

std::string help_text(const std::vector<Option>& options) {
    std::size_t width = 0;
    for (const Option& option : options) width = std::max(width, label(option).size());
    std::string text;
    for (const Option& option : options) {
        const std::string left = label(option);
        text += "  " + left + std::string(width - left.size() + 2, ' ') + option.help + "\n";
    }
    return text;
}

void fill_standard_descriptors() {
    for (int fd = 0; fd <= 2; ++fd)
        if (::fcntl(fd, F_GETFD) == -1 &&
            ::open("/dev/null", fd == 0 ? O_RDONLY : O_RDWR) != fd)
            return;
}

}  // namespace yodel
