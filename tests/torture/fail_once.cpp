// A library for LD_PRELOAD that makes one call of the program fail. TORTURE contains the
// function, the number of the call among all calls of that function, from 1 on, and the errno.
// A fourth word, "late", means that the call is made anyway. If the function is "list", no
// call fails, and each call is listed. TORTURE_REPORT names the file to report to:
//
//     call read 3 8c3f pipe:[1234]               a call, a digest of its callers, and the file
//                                                that its first argument stands for
//     failed read 3 /path/of/program+1a2b:main   the call that failed, and its callers
//     open 3 socket:[1234]                       a descriptor that is open at the end
//
// Used only by tests; needs no C++ library. Requires glibc, and an ABI that passes up to six
// integers and pointers to any function in the same registers (x86-64 and ARM64).

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
#include <unwind.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Function = long (*)(long, long, long, long, long, long);

Function real(const char* name) { return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name)); }

constexpr int first_of_report = 900;

long report = -1;  // a descriptor far above the program's
const char* failing = "";
long failing_call = 0;
long failing_code = 0;
bool late = false;
bool listing = false;

void write_report(const char* line) {
    const auto size = static_cast<long>(std::strlen(line));
    static const Function real_write = real("write");
    if (report >= 0) real_write(report, reinterpret_cast<long>(line), size, 0, 0, 0);
}

template <class... Values>
void write_report(const char* format, Values... values) {
    char line[1024];  // longer names are truncated
    std::snprintf(line, sizeof line, format, values...);
    write_report(line);
}

_Unwind_Reason_Code report_caller(_Unwind_Context* context, void*) {
    const auto address = _Unwind_GetIP(context);
    Dl_info found{};
    if (address == 0 || ::dladdr(reinterpret_cast<void*>(address), &found) == 0)
        return _URC_END_OF_STACK;
    const auto start = reinterpret_cast<_Unwind_Ptr>(found.dli_fbase);
    write_report(" %s+%lx:%s", found.dli_fname, static_cast<unsigned long>(address - start - 1),
                 found.dli_sname ? found.dli_sname : "");
    return _URC_NO_REASON;
}

_Unwind_Reason_Code digest_caller(_Unwind_Context* context, void* digest) {
    auto& sum = *static_cast<unsigned long*>(digest);
    sum = (sum ^ _Unwind_GetIP(context)) * 0x100000001b3;
    return _URC_NO_REASON;
}

// Stores the descriptor's file in `target`, or an empty text.
void find_target(long fd, char (&target)[256]) {
    char link[32];
    std::snprintf(link, sizeof link, "/proc/self/fd/%ld", fd);
    const ssize_t size = ::readlink(link, target, sizeof target - 1);
    target[size > 0 ? size : 0] = '\0';
}

// True for a pipe inside the program, whose calls only a signal can interrupt. With threads,
// the number may stand for another call than in the list.
bool is_inner_pipe(long fd) {
    char target[256];
    find_target(fd, target);
    if (std::strncmp(target, "pipe:", 5) != 0) return false;
    for (long standard = 0; standard <= STDERR_FILENO; ++standard) {
        char other[256];
        find_target(standard, other);
        if (std::strcmp(target, other) == 0) return false;
    }
    return true;
}

_Unwind_Reason_Code find_set_up(_Unwind_Context* context, void* found) {
    Dl_info caller{};
    if (::dladdr(reinterpret_cast<void*>(_Unwind_GetIP(context)), &caller) == 0)
        return _URC_END_OF_STACK;
    if (caller.dli_sname && std::strcmp(caller.dli_sname, "CRYPTO_THREAD_run_once") == 0)
        *static_cast<bool*>(found) = true;
    return _URC_NO_REASON;
}

// True during the initialization of OpenSSL. Version 3.6 reports a failure there by using the
// unfinished state, and deadlocks.
bool sets_up_openssl() {
    bool found = false;
    _Unwind_Backtrace(find_set_up, &found);
    return found;
}

bool can_fail(long first_argument) {
    const bool is_descriptor = first_argument >= 0 && first_argument < first_of_report;
    return failing_code == EINTR || !is_descriptor || !is_inner_pipe(first_argument);
}

void list_call(const char* name, long number, long first_argument) {
    unsigned long digest = 0;
    char target[256] = "";
    _Unwind_Backtrace(digest_caller, &digest);
    const int code = errno;
    if (first_argument >= 0 && first_argument < first_of_report)
        find_target(first_argument, target);
    errno = code;
    write_report("call %s %ld %lx %s\n", name, number, digest, target);
}

// How a function reports a failure.
enum class Failure { minus_one, null, code };

class Interposed {
public:
    constexpr Interposed(const char* name, Failure failure) : name_(name), failure_(failure) {}

    bool fails(long first_argument) {
        const long number = __atomic_add_fetch(&calls_, 1, __ATOMIC_RELAXED);
        if (listing) list_call(name_, number, first_argument);
        if (number != failing_call || std::strcmp(name_, failing) != 0) return false;
        if (!can_fail(first_argument) || sets_up_openssl()) return false;
        write_report("failed %s %ld", name_, number);
        _Unwind_Backtrace(report_caller, nullptr);
        write_report("\n");
        return true;
    }

    long fail() const {
        errno = failure_ == Failure::code ? EIO : static_cast<int>(failing_code);
        if (failure_ == Failure::code) return failing_code;
        return failure_ == Failure::null ? 0 : -1;
    }

private:
    const char* name_;
    Failure failure_;
    long calls_ = 0;
};

}  // namespace

// Uses an assembler name, because the headers above declare the real prototypes.
#define INTERPOSE_AS(name, symbol)                                                             \
    extern "C" long shim_##symbol(long, long, long, long, long, long) __asm__(#symbol);        \
    extern "C" long shim_##symbol(long a, long b, long c, long d, long e, long f) {            \
        static const Function function = real(#symbol);                                        \
        const bool fails = of_##name.fails(a);                                                 \
        const long result = fails && !late ? 0 : function(a, b, c, d, e, f);                   \
        return fails ? of_##name.fail() : result;                                              \
    }
#define INTERPOSE(name, failure)                                                               \
    static constinit Interposed of_##name(#name, Failure::failure);                            \
    INTERPOSE_AS(name, name)

// dlsym() may allocate memory, so it can't find the allocator.
#define INTERPOSE_ALLOCATOR(name)                                                              \
    static constinit Interposed of_##name(#name, Failure::null);                               \
    extern "C" void* __libc_##name(long, long);                                                \
    extern "C" void* shim_##name(long, long) __asm__(#name);                                   \
    extern "C" void* shim_##name(long a, long b) {                                             \
        return of_##name.fails(-1) ? reinterpret_cast<void*>(of_##name.fail())                 \
                                   : __libc_##name(a, b);                                      \
    }

// clang-format off
#define ALLOCATORS(X) X(malloc) X(calloc) X(realloc)
#define FUNCTIONS(X)                                                                           \
    X(accept, minus_one) X(access, minus_one) X(aligned_alloc, null) X(bind, minus_one)        \
    X(close, minus_one) X(connect, minus_one) X(epoll_create1, minus_one)                      \
    X(epoll_ctl, minus_one) X(epoll_pwait2, minus_one) X(epoll_wait, minus_one)                \
    X(fdopen, null) X(fflush, minus_one) X(fopen, null) X(fopen64, null) X(fputs, minus_one)   \
    X(fstat, minus_one) X(fstat64, minus_one) X(getaddrinfo, code) X(getentropy, minus_one)    \
    X(getpeername, minus_one) X(getrlimit64, minus_one) X(getsockname, minus_one)              \
    X(getsockopt, minus_one) X(ioctl, minus_one) X(listen, minus_one) X(lstat64, minus_one)    \
    X(memfd_create, minus_one) X(mmap, minus_one) X(open, minus_one) X(open64, minus_one)      \
    X(pipe, minus_one) X(pipe2, minus_one) X(poll, minus_one) X(ppoll, minus_one)              \
    X(prctl, minus_one) X(pselect, minus_one) X(pthread_create, code) X(read, minus_one)       \
    X(recv, minus_one) X(recvfrom, minus_one) X(recvmmsg, minus_one) X(recvmsg, minus_one)     \
    X(rename, minus_one) X(sched_getaffinity, minus_one) X(send, minus_one)                    \
    X(sendmmsg, minus_one) X(sendmsg, minus_one) X(sendto, minus_one) X(setlocale, null)       \
    X(setrlimit64, minus_one) X(setsockopt, minus_one) X(shutdown, minus_one)                  \
    X(sigaction, minus_one) X(sigaltstack, minus_one) X(signal, minus_one)                     \
    X(socket, minus_one) X(stat, minus_one) X(stat64, minus_one) X(syscall, minus_one)         \
    X(sysconf, minus_one) X(tcgetattr, minus_one) X(tcsetattr, minus_one) X(tmpfile64, null)   \
    X(ttyname, null) X(unlink, minus_one) X(write, minus_one) X(writev, minus_one)
// The fortified variants, which compilers such as Ubuntu's call instead.
#define FORTIFIED(X) X(poll, __poll_chk) X(ppoll, __ppoll_chk) X(read, __read_chk)             \
    X(recv, __recv_chk)
// clang-format on

ALLOCATORS(INTERPOSE_ALLOCATOR)
FUNCTIONS(INTERPOSE)
FORTIFIED(INTERPOSE_AS)

namespace {

void report_open_descriptors() {
    for (int fd = 0; fd < first_of_report; ++fd) {
        char target[256];
        find_target(fd, target);
        if (*target != '\0') write_report("open %d %s\n", fd, target);
    }
}

__attribute__((constructor)) void begin() {
    const long name = reinterpret_cast<long>(std::getenv("TORTURE_REPORT"));
    const long opened = real("open")(name, O_WRONLY | O_CREAT | O_APPEND, 0600, 0, 0, 0);
    report = real("fcntl")(opened, F_DUPFD_CLOEXEC, first_of_report, 0, 0, 0);
    real("close")(opened, 0, 0, 0, 0, 0);
    static char words[64];
    std::snprintf(words, sizeof words, "%s", std::getenv("TORTURE"));
    char* rest = words;
    failing = ::strtok_r(rest, " ", &rest);
    failing_call = std::strtol(rest, &rest, 10);
    failing_code = std::strtol(rest, &rest, 10);
    late = std::strcmp(rest, " late") == 0;
    listing = std::strcmp(failing, "list") == 0;
}

__attribute__((destructor)) void end() {
    failing = "";
    listing = false;
    report_open_descriptors();
}

}  // namespace
