#include "app/process/program.hpp"

#include "app/process/sandbox.hpp"
#include "app/text/json.hpp"
#include "app/text/system.hpp"
#include "bufio/tls.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#if YODEL_HAS_TIMER_SLACK
#    include <sys/prctl.h>
#endif
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <filesystem>
#include <map>
#include <new>
#include <random>
#include <stdexcept>

namespace yodel {

void minimize_timer_slack() {
#if YODEL_HAS_TIMER_SLACK
    ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds
#endif
}

int run_program(const char* name, const std::function<int(int& signo)>& body, bool is_server) {
    // Opens /dev/null for each of the three standard descriptors that is closed, so that no
    // socket gets its number. A closed standard input then reads as empty. Writing to a closed
    // output still fails, because /dev/null is opened for reading.
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
        if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", O_RDONLY);
    diagnostics().set_program(name);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    std::setlocale(LC_CTYPE, "");
    int signo = 0;
    int status = success;
    Trouble trouble;
    try {
        status = body(signo);
    } catch (const WrongProgram& error) {  // its text already contains the command to type
        trouble = {usage_error, error.what()};
    } catch (const UsageError& error) {
        trouble = {usage_error,
                   std::string(error.what()) + " (" + name + " -h shows the options)"};
    } catch (const FileError& error) {
        trouble = {error.status, error.what()};
    } catch (const bufio::TlsError& error) {
        trouble = {exit_status({error.reason}), error.what()};
    } catch (const std::bad_alloc&) {
        trouble = {cannot_run, "out of memory"};  // short enough to need no memory
    } catch (const std::exception& error) {
        trouble = {cannot_run, error.what()};
    }
    // An unusable --cacert file counts like an unusable certificate, and a server cannot run
    // without its listening lines or port file.
    if (is_server && trouble.status == trust_unusable)
        trouble.status = own_certificate_unusable;
    if (is_server && trouble.status == output_failed) trouble.status = cannot_run;
    if (trouble.status != success) status = print_trouble(trouble);
    if (signo != 0) print_error(signal_text(signo));
    diagnostics().drain();
    if (signo == 0) return status;
    std::signal(signo, SIG_DFL);
    std::raise(signo);
    return status;
}

int print(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw FileError(output_failed, "standard output", errno);
    return success;
}

int print_trouble(const Trouble& trouble) {
    try {
        if (diagnostics().form() == Diagnostics::Form::text)
            diagnostics().remark(trouble.text);
        else
            diagnostics().write_line(
                JsonObject()
                    .text("error", trouble.text)
                    .number("status", static_cast<std::uint64_t>(trouble.status))
                    .str());
    } catch (const std::bad_alloc&) {
        diagnostics().write_temporary("out of memory\n");  // needs no memory
    }
    return trouble.status;
}

// A file that does not exist yet is identified by its path alone.
static std::string identity(const std::string& file, struct stat& status) {
    std::error_code error;
    status = {};
    if (::stat(file.c_str(), &status) != 0)
        return std::filesystem::weakly_canonical(file, error);
    return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

void refuse_shared_outputs(const std::vector<std::pair<std::string, std::string>>& outputs) {
    std::map<std::string, std::string> seen;  // identities of files, and their options
    struct stat status {};
    seen[identity("/dev/fd/1", status)] = "standard output";
    for (const auto& [option, file] : outputs) {
        if (file.empty()) continue;
        const auto [same, is_new] = seen.emplace(identity(file, status), option);
        if (!is_new && !S_ISCHR(status.st_mode))
            throw UsageError(option + " " + file + " is the same file as " + same->second);
    }
}

std::size_t raise_descriptor_limit(std::size_t needed) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return needed;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<std::size_t>(limit.rlim_cur);
}

void provide_descriptors(std::size_t count) {
    constexpr std::size_t spare = 4;  // for the look-up and epoll
    const std::size_t needed = used_descriptors() + count + spare;
    const std::size_t allowed = raise_descriptor_limit(needed);
    if (allowed < needed)
        throw std::runtime_error("these connections need " + std::to_string(needed) +
                                 " descriptors, but the limit is " + std::to_string(allowed) +
                                 " (ulimit -n)");
}

std::size_t descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? 0 : static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t used_descriptors() {
    std::size_t used = 0;
    for (int fd = 0; fd < 256; ++fd)
        if (::fcntl(fd, F_GETFD) != -1) ++used;
    return used;
}

PortFile::PortFile(const std::string& path, const std::string& text) {
    if (path.empty()) return;
    const std::string refusal = "--port-file: cannot write " + path;
    struct stat found {};
    if (::lstat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
        throw std::runtime_error(refusal + ": it is not a regular file");
    const std::string draft = path + "." + std::to_string(std::random_device{}());
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    file_.reset(::open(draft.c_str(), flags, 0666));
    if (!file_) throw FileError(output_failed, refusal, errno);
    path_.own(draft);
    Output output(file_.get());
    output.write(text);
    if (output.error() != 0) throw FileError(output_failed, refusal, output.error());
    if (std::rename(draft.c_str(), path.c_str()) != 0)
        throw FileError(output_failed, refusal, errno);
    path_.set_path(path);
}

std::string version_text(const std::string& program, std::string_view backends) {
    return program + " " YODEL_VERSION "\nOpenSSL " + bufio::tls_library_version() +
           ", sandbox " + available_sandbox() + "\nbackends " + std::string(backends) +
           "; the first is the default\n";
}

}  // namespace yodel
