#include "app/log_file.hpp"

#include "ui/text.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <system_error>

namespace yodel {

namespace {

std::string timestamp() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto count = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    const auto seconds = static_cast<std::time_t>(count / 1'000'000);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    char text[32];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    std::snprintf(text + size, sizeof text - size, ".%06d",
                  static_cast<int>(count % 1'000'000));
    return text;
}

}  // namespace

LogFile::LogFile(const std::string& path) : file_(std::fopen(path.c_str(), "a")) {
    if (!file_) throw std::system_error(errno, std::generic_category(), path);
}

void LogFile::add(char sign, std::string_view bytes) {
    const std::string line = timestamp() + ' ' + sign + ' ' + ui::printable(bytes) + '\n';
    std::fwrite(line.data(), 1, line.size(), file_.get());
}

bool LogFile::finish() {
    const bool written = flush();
    return std::fclose(file_.release()) == 0 && written;
}

}  // namespace yodel
