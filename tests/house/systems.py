#!/usr/bin/env python3
"""Checks that features of single systems are used only behind a test for the feature.

usage: systems.py SOURCE_FOLDER [NM ARCHIVE...]

Only the files system.hpp may test for a system; all other files test for their features. Names
that not all systems provide may occur only inside such a test. The archives, built with
YODEL_PORTABLE, may call only functions of all systems. Prints one line for each finding, and fails
if there is any.
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree
import walls  # noqa: E402

# Macros that name a system or a C library.
SYSTEM = re.compile(r"\b(__linux__|__gnu_linux__|__GLIBC\w*|__APPLE__|__\w+BSD__|__DragonFly__"
                    r"|__sun|__CYGWIN__|_WIN32|YODEL_PORTABLE)\b")
PLACE = re.compile(r"(.*/)?system\.hpp")

# Functions that some of Linux, macOS and the BSDs lack or define differently.
FUNCTIONS = """
accept4 dup3 pipe2 ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
kqueue kevent eventfd timerfd_create timerfd_settime signalfd inotify_init1 memfd_create
recvmmsg sendmmsg sendfile splice tee vmsplice copy_file_range prctl syscall
sched_getaffinity sched_setaffinity pthread_setaffinity_np pthread_setname_np gettid
malloc_trim mallinfo mallinfo2 malloc_usable_size mremap fallocate renameat2 statx openat2
getrandom getentropy secure_getenv arc4random strchrnul memrchr mempcpy rawmemchr asprintf
qsort_r strverscmp canonicalize_file_name get_current_dir_name euidaccess prlimit close_range
pledge unveil cap_enter
""".split()
# Types, flags, options and files of single systems.
NAMES = """
mmsghdr in_pktinfo tcp_info cpu_set_t epoll_event MSG_MORE MSG_WAITFORONE MSG_CMSG_CLOEXEC
MSG_ZEROCOPY SOCK_CLOEXEC SOCK_NONBLOCK SO_REUSEPORT SO_REUSEPORT_LB SO_NOSIGPIPE SO_BUSY_POLL
SO_INCOMING_CPU SO_BINDTODEVICE SO_PEERCRED TCP_INFO TCP_CORK TCP_QUICKACK TCP_FASTOPEN
TCP_USER_TIMEOUT TCP_DEFER_ACCEPT UDP_SEGMENT UDP_GRO IP_PKTINFO IP_RECVDSTADDR IP_SENDSRCADDR
IPV6_PKTINFO IPV6_RECVPKTINFO IP_FREEBIND O_PATH O_TMPFILE MFD_CLOEXEC SIGINFO SIGIO NSIG
CLOCK_BOOTTIME CLOCK_MONOTONIC_RAW PR_SET_TIMERSLACK PR_SET_NO_NEW_PRIVS
""".split()
FILES = [r'"/proc/', r'"/sys/', r"<linux/", r"<sys/(epoll|eventfd|event|prctl|syscall)\.h>"]
# `splice` is also a member of std::list.
SPECIAL = re.compile(r"(?<![.>\w])(" + "|".join(FUNCTIONS) + r")\s*\(|\b(" + "|".join(NAMES) +
                     r")\b|" + "|".join(FILES))

CONDITION = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(.*)")
FEATURE = re.compile(r"\b(EV|BUFIO|UI|YODEL)_HAS_\w+")


class Conditions:
    """Tracks whether a line is inside a test for a feature."""

    def __init__(self):
        self.open = []

    def read(self, word, condition):
        asks = word != "ifndef" and bool(FEATURE.search(condition))
        if word in ("if", "ifdef", "ifndef"):
            self.open.append(asks)
        elif word in ("elif", "else"):
            self.open[-1] = asks
        else:
            self.open.pop()

    def behind_a_question(self):
        return any(self.open)


def check_file(path, text):
    conditions = Conditions()
    for number, line in enumerate(walls.without_comments(text).splitlines(), 1):
        if found := SYSTEM.search(line):
            yield f"{path}:{number}: only system.hpp asks which system it is ({found.group()})"
        if question := CONDITION.match(line):
            conditions.read(*question.groups())
        elif not conditions.behind_a_question() and (found := SPECIAL.search(line)):
            yield f"{path}:{number}: not all systems have this ({found.group().strip()})"


def check_sources(files):
    return [finding for path in sorted(files) if not PLACE.fullmatch(path)
            for finding in check_file(path, files[path])]


def undefined(nm, archive):
    """Returns the names that the archive calls, without their versions."""
    table = subprocess.run([nm, "-u", archive], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].partition("@")[0] for line in table.splitlines() if " U " in line}


def check_archive(archive, names):
    return [f"{pathlib.Path(archive).name}: not all systems have this ({name})"
            for name in sorted(names & set(FUNCTIONS))]


def main():
    root, *rest = sys.argv[1:]
    files = walls.sources(pathlib.Path(root))
    findings = check_sources(files) if files else [f"no sources in {root}"]
    for archive in rest[1:]:
        findings += check_archive(archive, undefined(rest[0], archive))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
