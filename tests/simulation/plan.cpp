#include "tests/simulation/plan.hpp"

#include <algorithm>
#include <chrono>

namespace simulation {

using namespace std::chrono_literals;
using namespace yodel;

namespace {

ev::Duration some_time(Dice& dice) {
    return dice.up_to(dice.one_of<ev::Duration>({100us, 5ms, 80ms, 400ms, 3s}));
}

Machine draw_machine(Dice& dice, bool calm) {
    Machine machine;
    machine.seed = dice.next();
    machine.shuffles = dice.chance(0.5);
    if (dice.chance(0.5)) machine.reading = 1us;
    if (!calm && dice.chance(0.3)) machine.oversleep = 20ms;
    return machine;
}

// Draws the rate of a fault: usually 0, otherwise rare or frequent.
double draw_rate(Dice& dice) {
    return dice.chance(0.35) ? dice.one_of<double>({0.02, 0.2, 0.6, 1}) : 0;
}

Faults draw_message_faults(Dice& dice) {
    Faults faults;
    faults.seed = dice.next();
    faults.drop = draw_rate(dice);
    faults.dup = draw_rate(dice);
    faults.corrupt = draw_rate(dice);
    if (dice.chance(0.4)) faults.delay = some_time(dice);
    if (dice.chance(0.3)) faults.jitter = some_time(dice);
    return faults;
}

void draw_connection_faults(Dice& dice, Faults& faults) {
    if (dice.chance(0.2)) faults.chunk = 1 + dice.up_to(40);
    if (dice.chance(0.1)) faults.close_after = dice.up_to(20);
    if (dice.chance(0.1)) faults.reset_after = dice.up_to(20);
    faults.is_half_closed = dice.chance(0.04);
    faults.must_not_read = dice.chance(0.04);
    faults.is_handshake_stalled = dice.chance(0.03);
    if (dice.chance(0.1))
        faults.banner = dice.one_of<const char*>({"hello\n", "*", "x", "\n$"});
}

// Keeps delays below the timeouts, and removes faults whose combination would be ambiguous.
void calm_down(Dice& dice, Faults& faults) {
    faults.delay = std::min<ev::Duration>(faults.delay, 90ms);
    faults.jitter = std::min<ev::Duration>(faults.jitter, 90ms);
    if (dice.chance(0.5))
        faults.dup = 0;
    else
        faults.corrupt = 0;
}

void draw_server(Dice& dice, Plan& plan) {
    EchoServer::Options& server = plan.server;
    server.framing = plan.client.framing;
    if (dice.chance(0.7)) server.faults = draw_message_faults(dice);
    if (plan.calm) return calm_down(dice, server.faults);
    if (server.faults.any()) draw_connection_faults(dice, server.faults);
    if (plan.carrier == Carrier::datagrams) server.faults.reorder = draw_rate(dice);
    server.is_verbose = dice.chance(0.2);
    if (dice.chance(0.2)) server.max_buffer = 64 + dice.up_to(4096);
    if (dice.chance(0.1)) server.idle_timeout = 1ms + some_time(dice);
    server.max_connections = dice.chance(0.05) ? 0 : 4;
}

void draw_timeouts(Dice& dice, Session::Options& client) {
    client.reply_timeout = 1ms + some_time(dice);
    client.close_timeout = 1ms + some_time(dice);
    client.connect_timeout = 1ms + some_time(dice);
    client.greeting_time = 1ms + some_time(dice);
    if (dice.chance(0.3)) client.idle_timeout = 1ms + some_time(dice);
    if (dice.chance(0.2)) client.max_time = 1ms + 3 * some_time(dice);
    client.retries = dice.one_of<unsigned>({0, 0, 1, 4, Session::forever});
    client.retry_delay = 1ms + some_time(dice);
}

const Framing* draw_framing(Dice& dice, const Plan& plan) {
    if (plan.carrier == Carrier::datagrams) return datagram_framing();
    if (plan.client.websocket) return websocket_framing();
    const std::vector<std::string> all = framing_list();
    for (;;) {
        const Framing* const framing = find_framing(all[dice.up_to(all.size() - 1)]);
        if (!plan.calm || (framing->has_framed_replies() && framing->can_echo()))
            return framing;
    }
}

void draw_client(Dice& dice, Plan& plan) {
    Session::Options& client = plan.client;
    client.framing = draw_framing(dice, plan);
    client.retry_seed = static_cast<unsigned>(dice.next());
    client.may_coalesce = dice.chance(0.4);
    client.has_numbers =
        plan.carrier == Carrier::datagrams && plan.distinct && dice.chance(0.5);
    if (plan.calm) return;
    client.expect = dice.one_of<Expect>(
        {Expect::echo, Expect::echo, Expect::echo, Expect::any, Expect::given, Expect::none});
    draw_timeouts(dice, client);
    if (dice.chance(0.2)) client.max_frame = 1 + dice.up_to(300);
}

// Draws more traffic than the system's buffers hold, for a server that may not read.
void draw_flood(Dice& dice, Plan& plan) {
    plan.messages = 60;
    plan.longest = 60000;
    plan.window = 1000;
    plan.burst = 30;
    Faults& faults = plan.server.faults;
    faults.must_not_read = dice.chance(0.5);
    if (faults.chunk > 0) faults.chunk += 2000;  // limits the number of turns
}

// Draws far more messages than are ever in flight, to reveal memory that is held too long.
void draw_long_talk(Dice& dice, Plan& plan) {
    plan.messages = 5000;
    plan.longest = 4000;
    plan.window = dice.one_of<std::size_t>({1, 2, 16});
    plan.gap = std::min<ev::Duration>(plan.gap, 5ms);
    Faults& faults = plan.server.faults;
    if (faults.chunk > 0) faults.chunk += 2000;  // limits the number of turns
}

void draw_traffic(Dice& dice, Plan& plan) {
    plan.messages = dice.up_to(dice.one_of<std::size_t>({2, 10, 60}));
    plan.longest = dice.one_of<std::size_t>({1, 12, 100, 100, 2000});
    plan.window = dice.one_of<std::size_t>({1, 2, 16, 1000});
    plan.burst = dice.one_of<std::size_t>({1, 1, 4, 30});
    plan.gap = some_time(dice);
    if (plan.calm) return;
    if (dice.chance(0.04)) draw_flood(dice, plan);
    plan.mischief = dice.one_of<double>({0, 0.02, 0.1, 0.3});
    if (dice.chance(0.005)) draw_long_talk(dice, plan);
}

}  // namespace

Plan make_plan(Kind kind, std::uint64_t seed) {
    Dice dice(seed * 3 + static_cast<std::uint64_t>(kind));
    Plan plan;
    plan.seed = seed;
    if (kind == Kind::datagrams) plan.carrier = Carrier::datagrams;
    if (kind == Kind::streams && dice.chance(0.15)) plan.carrier = Carrier::tcp;
    if (kind == Kind::websockets) plan.client.websocket.emplace().host = "simulated";
    plan.calm = dice.chance(0.25);
    plan.distinct = plan.calm || dice.chance(0.7);
    plan.server.may_answer_all = dice.chance(0.5);
    plan.machine = draw_machine(dice, plan.calm);
    draw_client(dice, plan);
    draw_server(dice, plan);
    draw_traffic(dice, plan);
    return plan;
}

}  // namespace simulation
