#include "app/options/server_options.hpp"

#include "tests/app/options/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace yodel;
using test::parse_by;
using test::refusal;
using test::words_of;

namespace {

ServerOptions parse_server(const std::vector<std::string>& words) {
    return parse_by(parse_server_options, words);
}

}  // namespace

TEST_CASE("a mistake in an option of the server is reported with the option's name") {
    const auto [words, sentence] = GENERATE(table<std::string, std::string>({
        {"--drop 10 7", "--drop: \"10\" is not a probability such as 0.1 or 10%, up to 1"},
        {"--delay 1s~x 7", "--delay: \"x\" is not a duration such as 1.5s, 200ms or 2m"},
        {"--seed=-1 7", "--seed: \"-1\" is not a whole number"},
        {"-m 0 7", "-m: \"0\" is not a number from 1 to 1000000"},
        {"--banner \\q 7", "--banner: a backslash must be followed by n, r, t, 0, a backslash, "
                           "or x and two digits"},
        {"-6 127.0.0.1:7", "-6: \"127.0.0.1\" is not an IPv6 address"},
        {"-4 [::]:7", "-4: \"::\" is not an IPv4 address"},
        {"-64 7", "-4: -4 cannot be combined with -6"},
        {"--cert f 7", "--cert needs --tls"},
        {"--ws --cert f 7", "--cert needs --tls"},
        {"--stall-handshake 7", "--stall-handshake needs --tls or --ws"},
        {"--ws -f line 7", "-f cannot be combined with --ws"},
        {"--ws -u 7", "-u cannot be combined with --ws"},
        {"--reflect-any --ws 7", "--reflect-any cannot be combined with --ws"},
        {"--ws --max-buffer 5 --banner x 7",
         "--max-buffer is too small for the framing or the banner"},
        {"--threads 0 7", "--threads: \"0\" is not a number from 1 to 1024, or auto"},
        {"--threads 2 -U p",
         "--threads needs a port: connections to -U are served by one thread"},
        {"-f resp 7",
         "-f: \"resp\" is not a framing that can be echoed; the framings are line, "
         "crlf, nul, len1, len2, len4, len2le, len4le, caret, raw"},
        {"localhost 7", "\"localhost\" is neither a port nor ADDR:PORT"},
    }));
    CAPTURE(words);
    CHECK(refusal([&, &words = words] { parse_server(words_of(words)); }) == sentence);
}

TEST_CASE("the number of threads is one, the given number, or one per processor") {
    CHECK(parse_server({"7"}).threads == 1);
    CHECK(parse_server({"--threads", "1", "7"}).threads == 1);
    CHECK(parse_server({"--threads", "auto", "7"}).threads >= 1);
    CHECK(parse_server({"--threads", "auto", "-U", "path"}).threads == 1);
    if (bufio::ports_can_be_shared()) CHECK(parse_server({"--threads", "3", "7"}).threads == 3);
}

TEST_CASE("a WebSocket server takes the options of connections and of messages") {
    const ServerOptions options =
        parse_server(words_of("--ws --self-signed -U p --stall-handshake --chunk 7 "
                              "--max-buffer 6 --banner x --threads 1 7"));
    CHECK(options.streams.framing == websocket_framing());
}

TEST_CASE("several threads are refused if a port can't be shared") {
    if (bufio::ports_can_be_shared()) return;
    CHECK(parse_server({"--threads", "auto", "7"}).threads == 1);
    CHECK(refusal([] {
              parse_server({"--threads", "2", "7"});
          }) == "--threads: this system cannot share a port between threads");
}
