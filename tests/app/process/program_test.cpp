#include "app/process/program.hpp"

#include "app/text/output.hpp"
#include "app/text/system.hpp"
#include "bufio/tls.hpp"
#include "tests/app/process/apart.hpp"
#include "tests/app/refusal.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/text.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#if YODEL_HAS_TIMER_SLACK
#    include <sys/prctl.h>
#endif

#include <new>
#include <regex>

using namespace yodel;
using test::apart;
using test::contains;
using test::Folder;
using test::Outcome;
using test::refusal;

namespace {

std::string first_match(const std::string& file, const std::string& pattern) {
    const std::string text = test::contents(std::string(SOURCES) + "/" + file);
    std::smatch found;
    const std::regex wanted(pattern);
    return std::regex_search(text, found, wanted) ? found[1].str() : "";
}

// Runs a program with this body.
Outcome program(const std::function<int(int& signo)>& body, bool is_server = false) {
    return apart([&] { return run_program("yodel", body, is_server); });
}

void limit_descriptors(rlim_t soft, rlim_t hard) {
    const rlimit limit{soft, hard};
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

TEST_CASE("the version text has the project's version, the newest in the changelog") {
    const std::string version =
        first_match("CMakeLists.txt", "project\\(yodel VERSION ([0-9.]+)");
    CHECK(first_match("CHANGELOG.md", "## ([0-9][0-9.]*)\n") == version);
    const std::regex form("yodel " + version +
                          "\nOpenSSL 3\\.[0-9.]+, sandbox (landlock [0-9]+|none: .*)\n"
                          "backends epoll, poll; the first is the default\n");
    const std::string text = version_text("yodel", "epoll, poll");
    CAPTURE(text);
    CHECK(std::regex_match(text, form));
}

TEST_CASE("a program ends with its body's status, or with the status of the exception") {
    const struct {
        std::function<int()> body;
        int status;
        std::string errors;
    } rows[] = {
        {[] { return 56; }, 56, ""},
        {[]() -> int { throw WrongProgram("no"); }, 2, "yodel: no\n"},
        {[]() -> int { throw UsageError("no"); }, 2,
         "yodel: no (yodel -h shows the options)\n"},
        {[]() -> int { throw FileError(usage_error, "no"); }, 2, "yodel: no\n"},
        {[]() -> int { throw bufio::TlsError(bufio::Reason::pin, "no"); }, 90, "yodel: no\n"},
        {[]() -> int { throw FileError(output_failed, "f", EFBIG); }, 23,
         "yodel: f: File too large\n"},
        {[]() -> int { throw FileError(input_failed, "f", EISDIR); }, 26,
         "yodel: f: Is a directory\n"},
        {[]() -> int { throw std::bad_alloc(); }, 1, "yodel: out of memory\n"},
        {[]() -> int { throw std::runtime_error("\x1b[2J"); }, 1, "yodel: ^[[2J\n"},
        {[]() -> int {
             diagnostics().set_form(Diagnostics::Form::json);
             throw FileError(usage_error, "no");
         },
         2, "{\"error\":\"no\",\"status\":2}\n"},
    };
    for (const auto& row : rows) {
        const Outcome outcome = program([&](int&) { return row.body(); });
        CHECK(outcome.status == row.status);
        CHECK(outcome.errors == row.errors);
    }
}

TEST_CASE("a server has statuses of its own for files that it needs") {
    const std::pair<int, int> rows[] = {{trust_unusable, own_certificate_unusable},
                                        {output_failed, cannot_run},
                                        {input_failed, input_failed}};
    for (const auto& [thrown, status] : rows)
        CHECK(program([reason = thrown](int&) -> int { throw FileError(reason, "no"); }, true)
                  .status == status);
}

TEST_CASE("a program reports its trouble even without memory") {
    const Outcome outcome = program([](int&) {
        const Trouble trouble{usage_error, "no"};
        test::allocations.refused = test::allocations.count + 1;
        return print_trouble(trouble);
    });
    CHECK(outcome.status == usage_error);
    CHECK(outcome.errors == "out of memory\n");
}

TEST_CASE("a program counts characters as the user's locale does") {
    CHECK(apart([] {
              ::setenv("LC_ALL", "C.UTF-8", 1);
              return run_program("yodel", [](int&) { return MB_CUR_MAX > 1 ? 0 : 1; });
          }).status == 0);
}

TEST_CASE("a program that is to end by a signal reports it, and dies of it") {
    const Outcome outcome = program([](int& signo) {
        std::signal(SIGTERM, SIG_IGN);
        signo = SIGTERM;
        return 0;
    });
    CHECK(outcome.signo == SIGTERM);
    CHECK(outcome.errors == "yodel: ended by SIGTERM\n");
}

TEST_CASE("a failed write is an error of the program, not a signal") {
    for (const int signo : {SIGPIPE, SIGXFSZ})
        CHECK(program([&](int&) { return std::raise(signo); }).status == 0);
}

TEST_CASE("each closed standard descriptor is an empty input that can't be written") {
    for (int closed = STDIN_FILENO; closed <= STDERR_FILENO; ++closed)
        CHECK(apart([&] {
                  for (int fd = closed; fd <= STDERR_FILENO; ++fd) ::close(fd);
                  return run_program("yodel", [&](int&) {
                      char byte = 0;
                      bool filled = true;
                      for (int fd = closed; fd <= STDERR_FILENO; ++fd)
                          filled &= ::read(fd, &byte, 1) == 0 && ::write(fd, &byte, 1) == -1;
                      return filled ? 0 : 1;
                  });
              }).status == 0);
}

TEST_CASE("printing returns once the text is written, or throws") {
    CHECK(apart([] { return print("a\nb"); }).output == "a\nb");
    const auto full = program([](int&) {
        ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
        return print("a\n");
    });
    CHECK(full.status == 23);
    CHECK(full.errors == "yodel: standard output: No space left on device\n");
}

TEST_CASE("two outputs cannot be one file, whether it exists and whatever its name is") {
    const Folder folder;
    const std::string file = folder / "file";
    const auto shared = [](const std::string& a, const std::string& b) {
        return refusal([&] { refuse_shared_outputs({{"-a", a}, {"-b", b}}); });
    };
    std::filesystem::create_symlink("file", folder / "symbolic");
    for (const bool exists : {false, true}) {
        std::vector<std::string> names = {"file", "./file"};
        if (exists) test::write(file, "old");
        if (exists)
            std::filesystem::create_hard_link(file, folder / names.emplace_back("link"));
        for (const std::string& name : names) {
            CAPTURE(name, exists);
            CHECK(shared(file, folder / name) ==
                  "-b " + (folder / name) + " is the same file as -a");
        }
        CHECK(shared(file, folder / "other") == "");
    }
    CHECK(refusal([&] {
              refuse_shared_outputs({{"-a", "/dev/null"}, {"-b", "/no/f"}, {"-c", "/no/f"}});
          }) == "-c /no/f is the same file as -b");
    CHECK(shared("", "") == "");
    CHECK(shared("/dev/null", "/dev/null") == "");
    CHECK(program([&](int&) {
              ::dup2(::open(file.c_str(), O_WRONLY), STDOUT_FILENO);
              refuse_shared_outputs({{"-a", file}});
              return 0;
          }).errors ==
          "yodel: -a " + file +
              " is the same file as standard output (yodel -h shows the options)\n");
}

TEST_CASE("the soft limit of descriptors is raised to the hard one, but only if needed") {
    const struct {
        std::size_t needed;
        std::size_t allowed;  // the returned limit
        std::size_t limit;
    } rows[] = {{9, 9, 50}, {50, 50, 50}, {51, 100, 100}, {100, 100, 100}, {101, 100, 100}};
    for (const auto& row : rows) {
        CAPTURE(row.needed);
        CHECK(apart([&] {
                  limit_descriptors(50, 100);
                  const bool right = raise_descriptor_limit(row.needed) == row.allowed &&
                                     descriptor_limit() == row.limit;
                  return right ? 0 : 1;
              }).status == 0);
    }
}

TEST_CASE("too few descriptors are an error that states both numbers") {
    const auto provide = [](std::size_t most) {
        return program([=](int&) {
            const std::size_t before = used_descriptors();
            ::close(STDIN_FILENO);
            if (used_descriptors() != before - 1) return 1;
            limit_descriptors(100, 100);
            provide_descriptors(most - (before - 1) - 4);  // four are spare
            return 0;
        });
    };
    CHECK(provide(100).status == 0);
    CHECK(provide(101).errors == "yodel: these connections need 101 descriptors, but the "
                                 "limit is 100 (ulimit -n)\n");
}

#if YODEL_HAS_TIMER_SLACK
TEST_CASE("waits that are asked to be exact end within a nanosecond") {
    CHECK(apart([] {
              minimize_timer_slack();
              return ::prctl(PR_GET_TIMERSLACK);
          }).status == 1);
}
#endif
