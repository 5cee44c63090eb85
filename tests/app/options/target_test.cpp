#include "app/options/target.hpp"

#include "tests/app/options/parsing.hpp"

#include <netdb.h>
#include <sys/un.h>

using namespace yodel;
using test::check_table;
using test::refusal;
using test::words_of;

namespace {

// Returns a function that returns the parts of a target with spaces between them, and the words
// after it, or else the refusal.
auto parts(const TargetForm& form) {
    return [&form](const std::string& line) {
        Target target;
        std::vector<std::string> words = words_of(line);
        const std::string refused = refusal([&] { target = take_target(words, form); });
        if (!refused.empty()) return refused;
        std::string text = target.given.written;
        if (text.starts_with("the target")) text.clear();
        for (const std::string& part :
             {target.host, target.service, target.path, target.resource})
            if (!part.empty()) text += (text.empty() ? "" : " ") + part;
        for (const std::string& word : words) text += " | " + word;
        return text;
    };
}

}  // namespace

TEST_CASE("a target is a host and a port in several forms, perhaps in two words") {
    check_table(R"(h 7 => h 7
h 7 a:7 => h 7 | a:7
h:7 a:7 => h 7 | a:7
h:7 a 7 => h 7 | a | 7
tls://h:7 7 => tls:// h 7 | 7
ws://h/a:b 7 => ws:// h 7 /a:b
ws://h ws://a => ws:// h 80 / | ws://a
unix:p h:7 => unix: p | h:7
[::1] 7 => ::1 7
h:7 => h 7
h:7/ => h 7
h:007 => h 7
h 007 => h 7
h:1 => h 1
h:65535 => h 65535
123 7 => 123 7
tcp:7 => tcp 7
::1 7 => ::1 7
[::1]:7 => ::1 7
fe80::1%lo 7 => fe80::1%lo 7
tcp://h:7 => tcp:// h 7
tls://h:7/ => tls:// h 7
tls://h 7 => tls:// h 7
TLS://h:7 => tls:// h 7
tls://[::1]:7 => tls:// ::1 7
udp://h:7 => udp:// h 7
unix:/a:b => unix: /a:b
ws://h => ws:// h 80 /
ws://h:0080 => ws:// h 80 /
ws://h?q => ws:// h 80 /?q
ws://h/x 7 => ws:// h 7 /x
ws://h:7/!~ => ws:// h 7 /!~
ws://::1 7 => ws:// ::1 7 /
ws://[::1] => ws:// ::1 80 /
ws://::1 => ws:// ::1 80 /
ws://[::1]:7/x:y => ws:// ::1 7 /x:y
wss://h => wss:// h 443 /
WSS://h:7/a/b?c=d&e=/ => wss:// h 7 /a/b?c=d&e=/
)",
                parts(to_connect));
}

TEST_CASE("an invalid target is refused with the right form") {
    check_table(R"('' => a host is missing
h => "h" needs a port: write HOST PORT or HOST:PORT
h: => a port is missing
h '' => "h" needs a port: write HOST PORT or HOST:PORT
:7 => a host is missing before ":7"
7000 => a host is missing before "7000"
:http => a host is missing before ":http"
ws://user:secret@h => a target cannot contain a user name or password
user:secret@h:7 => a target cannot contain a user name or password
[]:7 => a host is missing before "[]:7"
[] 7 => a host is missing before "[]"
7000 localhost => "localhost" is neither a port nor the name of a service
h:0 => "0" is not a port from 1 to 65535
h:65536 => "65536" is not a port from 1 to 65535
h 99999999999 => "99999999999" is not a port from 1 to 65535
h 7x => "7x" is neither a port nor the name of a service
h 7.0 => "7.0" is neither a port nor the name of a service
h:7/x => "7/x" is neither a port nor the name of a service
::1:7 => "::1:7" is neither HOST:PORT nor [IPV6]:PORT
::1 => "::1" is neither HOST:PORT nor [IPV6]:PORT
[::1] => "[::1]" needs a port: write HOST PORT or HOST:PORT
a:b:7 => "a:b:7" is neither HOST:PORT nor [IPV6]:PORT
[::1]x:7 => "[::1]x:7" is neither HOST:PORT nor [IPV6]:PORT
[::1:7 => "[::1:7" is neither HOST:PORT nor [IPV6]:PORT
ws://[::1/x => "[::1" is neither HOST:PORT nor [IPV6]:PORT
'a b:7' => "a b" is not a valid host
me@h:7 => a target cannot contain a user name or password
h/x 7 => "h/x" is not a valid host
[h 7 => "[h" is not a valid host
ftp://h:7 => "ftp://" is not supported; use tcp://, tls://, udp://, ws:// or wss://
tls:// => tls:// needs an address, as in tls://localhost:7000
tcp:h:7 => "tcp:h:7" is neither HOST:PORT nor [IPV6]:PORT
tls:h 7 => "h" is neither a port nor the name of a service
unix: => unix: needs an address, as in unix:/run/s
ws:// => ws:// needs an address, as in ws://localhost:7000
ws:///x => a host is missing
ws://:7 => a host is missing before ":7"
ws://h:/x => a port is missing
ws://h:0 => "0" is not a port from 1 to 65535
ws://me@h => a target cannot contain a user name or password
ws:h:7 => "ws:h:7" is neither HOST:PORT nor [IPV6]:PORT
'ws://h/a b' => "/a b" is not a path: write %20 for a space, and no fragment (#)
ws://h#top => "#top" is not a path: write %20 for a space, and no fragment (#)
)",
                parts(to_connect));
    const std::string longest(sizeof(sockaddr_un::sun_path) - 1, 'x');
    CHECK(parts(to_connect)("unix:" + longest) == "unix: " + longest);
    CHECK(parts(to_connect)("unix:" + longest + "x") ==
          "\"" + longest + "x\" is not short enough for the path of a Unix-domain socket");
    for (const std::string path : {"/\r\nX: y", "/\x7f", "/\xc3\xa9"})
        CHECK(parts(to_connect)("'ws://h" + path + "'")
                  .starts_with("\"" + path + "\" is not a path: "));
}

TEST_CASE("a server listens on the given address, or on a port alone") {
    check_table(R"(0 => 0
65535 => 65535
0.0.0.0:7 => 0.0.0.0 7
[::]:7 => :: 7
70000 => "70000" is not a port from 0 to 65535
'' => a port is missing
:7 => a host is missing before ":7"
[]:7 => a host is missing before "[]:7"
a@b:7 => "a@b" is not a valid host
localhost => "localhost" is neither a port nor ADDR:PORT
::1 => "::1" is neither HOST:PORT nor [IPV6]:PORT
tcp://127.0.0.1:7 => "tcp://127.0.0.1:7" is not [ADDR:]PORT
tcp:// => "tcp://" is not [ADDR:]PORT
http://h:7 => "http://h:7" is not [ADDR:]PORT
unix:/s => "unix:/s" is not [ADDR:]PORT
)",
                parts(to_listen));
}

TEST_CASE("a destination is an address or a name, perhaps with a port") {
    check_table(R"(::1 => ::1
[::1] => ::1
[::1]:7 => ::1 7
10.0.0.5 => 10.0.0.5
10.0.0.5:7443 => 10.0.0.5 7443
other.example => other.example
)",
                parts(to_redirect));
}

// A small system knows no services.
TEST_CASE("a port may be the name of a service that the system knows") {
    const bool known = ::getservbyname("http", "tcp") != nullptr;
    CHECK(parts(to_redirect)("localhost:http") ==
          (known ? "localhost http" : "\"http\" is neither a port nor the name of a service"));
}
