#include "app/reporter.hpp"

#include "app/exit_status.hpp"
#include "app/json.hpp"
#include "app/units.hpp"
#include "ui/text.hpp"

#include <unistd.h>

#include <system_error>
#include <utility>

namespace yodel {

namespace {

JsonObject tls_object(const bufio::TlsFacts& facts) {
    JsonObject object;
    object.text("version", facts.version).text("cipher", facts.cipher);
    object.text("alpn", facts.alpn).text("subject", facts.subject);
    object.text("issuer", facts.issuer).text("not_after", facts.not_after);
    object.text("pin", facts.pin).flag("verified", facts.unverified.empty());
    return object.text("unverified", facts.unverified).flag("resumed", facts.resumed);
}

std::string connection_object(const Session& session) {
    const Session::Phases& phases = session.phases();
    JsonObject object;
    object.text("type", "connection").text("address", session.address().text());
    object.text("framing", session.options().framing->name);
    object.time("lookup_us", phases.lookup).time("connect_us", phases.tcp);
    if (!session.tls()) return object.str();
    object.time("handshake_us", phases.tls);
    return object.object("tls", tls_object(*session.tls())).str();
}

std::string connection_text(const Session& session) {
    const Session::Phases& phases = session.phases();
    std::string text = "connected to " + session.address().text() + "; look-up " +
                       milliseconds_text(phases.lookup) + ", connect " +
                       milliseconds_text(phases.tcp);
    const bufio::TlsFacts* const tls = session.tls();
    if (!tls) return text + " ms";
    text += ", TLS " + milliseconds_text(phases.tls) + " ms; " + tls->version + " " +
            tls->cipher + ", " + tls->subject + " until " + tls->not_after + ", " + tls->pin;
    return tls->unverified.empty() ? text : text + ", UNVERIFIED: " + tls->unverified;
}

JsonObject times_object(const Histogram& times) {
    JsonObject object;
    object.time("min", times.min()).time("p50", times.percentile(50));
    object.time("p95", times.percentile(95)).time("p99", times.percentile(99));
    return object.time("max", times.max());
}

std::string end_object(const Tally& tally, const bufio::End& end, int status) {
    JsonObject object;
    object.text("type", "end").text("reason", end.text);
    object.number("status", static_cast<std::uint64_t>(status));
    object.number("sent", tally.sent).number("echoed", tally.echoed);
    object.number("bad", tally.bad).number("lost", tally.lost);
    object.number("late", tally.late).number("unasked", tally.unasked);
    if (tally.round_trips.count() > 0) object.object("rtt_us", times_object(tally.round_trips));
    return object.str();
}

// 64 bytes, seq 1, 0.21 ms
std::string sequence_line(const Message& message, const Reply& reply) {
    std::string text =
        std::to_string(reply.payload.size()) + " bytes, seq " + std::to_string(message.id);
    if (reply.round_trip) text += ", " + milliseconds_text(*reply.round_trip) + " ms";
    if (!reply.right) text += ", differs at byte " + std::to_string(reply.difference);
    return message.late ? text + ", late" : text;
}

// That no reply is awaited of.
Message unanswered(std::uint64_t id, std::string_view payload) {
    const ev::Time now = ev::Clock::now();
    return {id, 1, payload, {}, now, now, false, false};
}

std::string hex_dump(std::string_view bytes) {
    std::string text;
    for (std::size_t at = 0; at == 0 || at < bytes.size(); at += 16)
        text += (at == 0 ? "" : "\n") + ui::hex_row(bytes, at);
    return text;
}

}  // namespace

Reporter::Reporter(ev::Loop& loop, Options options, Session& session, std::size_t high_water)
    : loop_(loop),
      options_(std::move(options)),
      session_(session),
      high_water_(high_water),
      visible_(::isatty(STDOUT_FILENO) == 1),
      output_(loop, STDOUT_FILENO, [this] { output_changed(); }),
      start_(loop.now()) {
    if (!options_.log.empty()) log_.emplace(options_.log);
}

void Reporter::connected() {
    if (options_.form == Form::json) append_line(connection_object(session_));
    const std::string text = connection_text(session_);
    log('-', text);
    if ((options_.probe && !options_.quiet) || options_.verbose) complain("yodel", text);
}

void Reporter::retrying() {
    const std::string text = explain(session_.end(), session_.tls()) + "; next try in " +
                             duration_text(session_.retry_time() - session_.since());
    log('-', text);
    if (!options_.quiet || options_.verbose) complain("yodel", text);
}

void Reporter::sent(std::string_view payload, std::uint64_t messages) {
    tally_.sent += messages;
    log('>', payload);
    if (options_.form != Form::json || session_.options().expect != Expect::none) return;
    std::uint64_t id = session_.last_id() - messages;
    for (const std::string_view piece : pieces(*session_.options().framing, payload)) {
        const Message message = unanswered(++id, piece);
        tell_message(id, "sent", &message, nullptr);
    }
}

void Reporter::missed(std::string_view payload) {
    ++tally_.sent;
    lost(unanswered(session_.skip(), payload));
    output_.flush();
}

void Reporter::answered(const Message& message, const Reply& reply) {
    if (message.late) --tally_.lost;
    if (message.late) ++tally_.late;
    (reply.right ? tally_.echoed : tally_.bad) += message.count;
    if (reply.round_trip) tally_.round_trips.record(*reply.round_trip, message.count);
    if (!reply.right && tally_.bad == 1)
        complain("yodel", "reply " + std::to_string(message.id) +
                              " differs from its message at byte " +
                              std::to_string(reply.difference));
    if (!raw()) log('<', reply.payload);
    if (options_.form == Form::json) {
        const char* const timely = reply.right ? "echoed" : "wrong";
        tell_message(message.id, message.late ? "late" : timely, &message, &reply);
    } else if (options_.form == Form::sequence) {
        if (!options_.quiet) append_line(sequence_line(message, reply));
    } else if (message.count > 1) {
        output_.write(message.frame);  // lines, which came back as they went
    } else if (!raw()) {
        print(reply.payload);
    }
}

void Reporter::lost(const Message& message) {
    ++tally_.lost;
    log('-', "no reply to message " + std::to_string(message.id));
    if (options_.form == Form::json) tell_message(message.id, "lost", &message, nullptr);
    if (options_.form == Form::sequence && !options_.quiet)
        append_line("no reply, seq " + std::to_string(message.id));
}

void Reporter::unasked(std::string_view payload) {
    ++tally_.unasked;
    if (!raw()) log('<', payload);
    const Reply reply{payload, {}, false, 0};
    if (options_.form == Form::json) tell_message(0, "unasked", nullptr, &reply);
    if (!raw() && bytes_pass()) print(payload);
}

void Reporter::received(std::string_view bytes) {
    if (!raw()) return;
    log('<', bytes);
    if (!bytes_pass()) return;
    if (options_.form == Form::hex) return append_line(hex_dump(bytes));
    std::size_t end = 0;
    while (visible_ && (end = bytes.find('\n')) != std::string_view::npos) {
        print(bytes.substr(0, end));
        bytes.remove_prefix(end + 1);
    }
    if (visible_) return append(bytes);
    output_.write(bytes);
}

void Reporter::ended(const std::string& trouble) {
    if (options_.form == Form::json)
        append_line(end_object(tally_, session_.end(), status(trouble)));
    log('-', session_.end().text);
    output_.flush();
}

void Reporter::flush() {
    output_.flush();
    if (output_.error() != 0) session_.disconnect();
    if (output_.pending() > high_water_) session_.hold(true);
    stop_if_done();
}

void Reporter::output_changed() {
    if (output_.error() != 0) {
        session_.disconnect();
    } else if (output_.pending() < high_water_ / 4) {
        session_.hold(false);
    }
    stop_if_done();
}

void Reporter::stop_if_done() {
    if (session_.state() != Session::State::closed) return;
    if (output_.done() || session_.out_of_time()) loop_.stop();
}

int Reporter::finish(const std::string& trouble) {
    const int code = status(trouble);
    const bool log_whole = !log_ || log_->finish();
    if (!log_whole) complain("yodel", "could not write all of " + options_.log);
    if (!trouble.empty()) complain("yodel", trouble);
    if (output_.error() != 0)
        complain("yodel",
                 "standard output: " + std::generic_category().message(output_.error()));
    if (exit_status(session_.end()) != 0)
        complain("yodel", explain(session_.end(), session_.tls()));
    const bool summary = !options_.quiet || options_.form == Form::sequence;
    const bool orderly = exit_status(session_.end()) == 0 && !options_.probe;
    if (summary && (orderly || tally_.sent > 0)) complain("yodel", tally_.summary());
    return code == all_well && !log_whole ? reply_wrong_or_lost : code;
}

int Reporter::status(const std::string& trouble) const {
    if (const int status = exit_status(session_.end()); status != 0) return status;
    const bool failed =
        tally_.bad > 0 || tally_.lost > 0 || !trouble.empty() || output_.error() != 0;
    return failed ? reply_wrong_or_lost : all_well;
}

bool Reporter::bytes_pass() const {
    return options_.form == Form::payload || options_.form == Form::hex;
}

void Reporter::print(std::string_view payload) {
    if (options_.form == Form::hex) return append_line(hex_dump(payload));
    output_.append_line(visible_ ? ui::printable(payload) : payload);
}

void Reporter::append(std::string_view bytes) {
    if (visible_) return output_.append(ui::printable(bytes));
    output_.append(bytes);
}

void Reporter::append_line(const std::string& text) { output_.append_line(text); }

void Reporter::tell_message(std::uint64_t id, const char* verdict, const Message* message,
                            const Reply* reply) {
    JsonObject object;
    object.text("type", "message");
    if (message) object.number("seq", id).number("sent_bytes", message->payload.size());
    if (reply) object.number("received_bytes", reply->payload.size());
    if (message) object.time("sent_us", message->sent - start_);
    if (reply && reply->round_trip) object.time("rtt_us", *reply->round_trip);
    object.text("verdict", verdict);
    if (message && reply) object.flag("right", reply->right);
    if (message && reply && !reply->right) object.number("difference", reply->difference);
    append_line(object.str());
}

void Reporter::log(char sign, std::string_view bytes) {
    if (log_) log_->add(sign, bytes);
}

}  // namespace yodel
