#include "app/options/server/server_options.hpp"

#include "tests/app/options/parsing.hpp"

#include <sys/socket.h>

using namespace std::chrono_literals;
using namespace yodel;
using test::check_table;

TEST_CASE("the options of the server set their values") {
    const auto parse = [](const std::string& line) {
        return test::parse_by(parse_server_options, line);
    };
    const ServerOptions options =
        parse("-u -v --drop 10% --delay 2s~1s --seed 0 --idle-timeout 0 1 [::]:2");
    CHECK(options.endpoints.at(0).text() == "127.0.0.1:1");
    CHECK(options.endpoints.at(1).text() == "[::]:2");
    CHECK(options.endpoints.at(1).is_passive);
    CHECK(options.server.is_verbose);
    CHECK(options.server.faults.drop == 0.1);
    CHECK(options.server.faults.delay == 2s);
    CHECK(options.server.faults.jitter == 1s);
    CHECK_FALSE(options.server.idle_timeout);
    CHECK(parse("--delay 1 7").server.faults.jitter == 0s);
    CHECK(parse("--banner a\\n 7").server.faults.banner == "a\n");
    CHECK(parse("--ws --banner x 7").server.framing == websocket_framing());
    CHECK(parse("--self-signed 7").line.has("tls"));
    CHECK(parse("-6 7").endpoints.at(0).host == "::1");
    CHECK(parse("-6 [::]:7").endpoints.at(0).host == "::");
    CHECK(parse("-4 7").endpoints.at(0).family == AF_INET);
    CHECK(parse("-U p").endpoints.at(0).is_passive);
    CHECK(parse("-hX").line.has("help"));
    CHECK(parse("--version --nonsense").line.has("version"));
}

TEST_CASE("a mistake in an option of the server is reported with the option's name") {
    check_table(R"( => a port to listen on is missing
localhost => "localhost" is neither a port nor ADDR:PORT
-6 127.0.0.1:7 => -6: "127.0.0.1" is not an IPv6 address
-4 [::]:7 => -4: "::" is not an IPv4 address
-64 7 => -6 cannot be combined with -4
-u -U p => -u needs a port, because datagrams cannot be sent to the path of -U
-m 0 7 => -m: "0" is not a number from 1 to 1000000
-m 1000000 7 =>
-m 1000001 7 => -m: "1000001" is not a number from 1 to 1000000
-f resp 7
=> -f: "resp" is not a framing that can be echoed; the framings are line, crlf, nul, len1, len2, len4, len2le, len4le, caret, raw
--tls 7 => --tls needs --cert or --self-signed
--cert f 7 => --cert needs --tls
--ws --cert f 7 => --cert needs --tls
--stall-handshake 7 => --stall-handshake needs --tls or --ws
--self-signed --stall-handshake 7 =>
--ws -f line 7 => -f cannot be combined with --ws
--drop 10 7 => --drop: "10" is not a probability from 0 to 1, such as 0.1 or 10%
--delay 1s~x 7 => --delay: "x" is not a duration up to 100 years, such as 1.5s, 200ms or 2m
--delay x~1s 7 => --delay: "x" is not a duration up to 100 years, such as 1.5s, 200ms or 2m
--seed=-1 7 => --seed: "-1" is not a whole number
--banner \q 7
=> --banner: a backslash must be followed by n, r, t, 0, a backslash, or x and two hex digits
--close-after 1 --reset-after 1 7 => --close-after cannot be combined with --reset-after
)",
                test::server_refused);
}
