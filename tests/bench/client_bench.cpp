// Compares yodel with a hand-written relay, between two pipes on the same echo server: the
// times of the first echo, of a round trip and of a bulk transfer, with processor time and
// memory.
#include "tests/bench/by_hand.hpp"
#include "tests/bufio/certificates.hpp"

#include <chrono>

namespace bench {

namespace {

const std::string line(std::string(63, 'x') + "\n");

double start_ms(const Command& command) {
    return median_ns(1, [&] { require(Process(command).exchange(line, line.size())); }) / 1e6;
}

double round_trip_us(const Command& command) {
    Process program(command);
    return median_ns(3000, [&] { require(program.exchange(line, line.size())); }) / 1e3;
}

// Returns the time and the processor time for a MiB, and the peak memory.
std::vector<double> pump(const Command& command, std::size_t mebibytes) {
    std::string text;
    while (text.size() < 64 * 1024) text += line;
    Process program(command);
    require(program.exchange(line, line.size()));
    const double cpu = program.cpu_ns();
    const double real = median_ns(1, [&] { require(program.exchange(text, mebibytes << 20)); });
    const double us = 1e3 * static_cast<double>(mebibytes);
    return {real / us, (program.cpu_ns() - cpu) / us, program.memory("VmHWM:") / 1048576};
}

// The relay has no mode for lines.
void compare(const char* title, const Command& relay, const Command& yodel,
             std::size_t mebibytes) {
    Command raw = yodel;
    raw.insert(raw.begin() + 1, {"-f", "raw"});
    const Command bytes[] = {relay, raw}, lines[] = {relay, yodel};
    Table table(title, {"relay by hand", "yodel"});
    table.add("start ms", rounds(27), [&](std::size_t i) { return start_ms(lines[i]); });
    table.add("ping us", rounds(9), [&](std::size_t i) { return round_trip_us(bytes[i]); });
    table.add({"pump us/M", "CPU us/M", "peak MiB"}, rounds(9),
              [&](std::size_t i) { return pump(bytes[i], mebibytes); });
    table.add({"lines us/M", "CPU us/M", "peak MiB"}, rounds(9),
              [&](std::size_t i) { return pump(lines[i], mebibytes / 4); });
    table.print();
}

// The relay reads its authority alone. Yodel finds it in a directory of hashed names, beside
// the system's bundle. The server sends an intermediate certificate, as most servers do.
void compare_tls_starts(test::Certificates& certificates) {
    const test::Identity root = certificates.authority("Root");
    const test::Identity middle = certificates.make("Middle", {.names = "", .issuer = &root});
    const test::Identity sent =
        certificates.chained({certificates.make("localhost", {.issuer = &middle}), middle});
    const Server server({YODELD, "--tls", "--cert", sent.certificate, "--key", sent.key, "0"});
    const std::string target = "localhost:" + server.port;
    const Command commands[] = {by_hand_command("relay", {server.port, root.certificate}),
                                {"env", "SSL_CERT_DIR=" + certificates.hashed({root}), YODEL,
                                 "--quiet", "--tls", target},
                                {YODEL, "--quiet", "-k", "--tls", target}};
    Table table("TLS start to the first echo in ms", {"relay by hand", "yodel", "yodel -k"});
    table.add("chain of three", rounds(27),
              [&](std::size_t i) { return start_ms(commands[i]); });
    table.print();
}

}  // namespace

void compare_clients() {
    const Server plain(by_hand_command("serve"));
    compare("clients", by_hand_command("relay", {plain.port}),
            {YODEL, "--quiet", "127.0.0.1", plain.port}, 256);
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    const std::string& trusted = identity.certificate;
    const Server server({YODELD, "--tls", "--cert", trusted, "--key", identity.key, "0"});
    compare("clients, TLS, verified", by_hand_command("relay", {server.port, trusted}),
            {YODEL, "--quiet", "--tls", "--cacert", trusted, "localhost:" + server.port}, 64);
    compare_tls_starts(certificates);
}

}  // namespace bench
