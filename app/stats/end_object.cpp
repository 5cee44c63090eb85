#include "app/stats/end_object.hpp"

#include "app/text/quotes.hpp"

#include <cerrno>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

constexpr std::size_t longest_line = 64 * 1024 * 1024;

// So that no sum of such fractions is infinite.
constexpr double largest_fraction = 1e15;

JsonObject times_object(const Histogram& times) {
    JsonObject object;
    object.time("min", times.min()).time("mean", times.mean());
    for (const Percentile& each : percentiles)
        object.time(each.name, times.percentile(each.percent));
    return object.time("max", times.max()).nanoseconds("sum", times.sum());
}

JsonArray buckets_array(const Histogram& times) {
    JsonArray array;
    for (const Histogram::Bucket& bucket : times.buckets())
        array.array(JsonArray().time(bucket.upper_end).number(bucket.count));
    return array;
}

JsonObject connections_object(const RunResult& result) {
    JsonObject object;
    object.number("asked", result.connections.asked);
    object.number("opened", result.connections.opened);
    object.number("failed", result.connections.failed);
    const auto add_times = [&object](const char* name, const char* buckets_name,
                                     const Histogram& times) {
        if (times.count() == 0) return;
        object.object(name, times_object(times));
        object.array(buckets_name, buckets_array(times));
    };
    add_times("connect_us", "connect_histogram", result.connect_times);
    add_times("handshake_us", "handshake_histogram", result.handshake_times);
    return object;
}

JsonObject tcp_object(const TcpTotals& tcp) {
    JsonObject object;
    if (tcp.min_rtt) object.time("min_rtt_us", *tcp.min_rtt);
    object.number("retransmits", tcp.retransmits);
    return object.number("mss", tcp.mss).number("cwnd", tcp.cwnd);
}

JsonArray errors_array(const std::vector<RunResult::Failure>& failures) {
    JsonArray array;
    for (const RunResult::Failure& failure : failures)
        array.object(JsonObject()
                         .text("text", failure.text)
                         .number("status", static_cast<std::uint64_t>(failure.status))
                         .number("count", failure.count));
    return array;
}

JsonObject variance_object(const RunResult& result) {
    JsonObject object;
    for (std::size_t i = 0; i < percentiles.size(); ++i)
        object.fraction(percentiles[i].name, result.variance_factors[i]);
    return object.fraction("mean", result.variance_factor_of_mean);
}

// Takes the members that a result needs out of the object. The first one that is missing or of
// another kind is the trouble.
class Restorer {
public:
    explicit Restorer(const JsonValue& end) : end_(end) {}

    RestoredResult restore() {
        const JsonValue* const type = end_.find("type");
        if (!type || type->text != "end") return {nullptr, "there is no end object"};
        auto result = std::make_unique<RunResult>();
        restore_counts(*result);
        restore_failures(*result);
        restore_connections(*result);
        restore_times(result->tally.round_trips, end_, "rtt_us", "histogram");
        restore_times(result->lateness, end_, "lateness_us", "lateness_histogram");
        restore_tcp(*result);
        restore_variance(*result);
        const Tally& tally = result->tally;
        if (tally.round_trips.count() > tally.echoed + tally.bad) disagree("histogram");
        if (trouble_.empty()) return {std::move(result), ""};
        return {nullptr, trouble_};
    }

private:
    void restore_counts(RunResult& result) {
        Tally& tally = result.tally;
        result.status = small_number(end_, "status");
        tally.sent = count(end_, "sent");
        tally.echoed = count(end_, "echoed");
        tally.bad = count(end_, "bad");
        tally.lost = count(end_, "lost");
        tally.late = count(end_, "late");
        tally.unsolicited = count(end_, "unasked");
        restore_plan(result);
        restore_datagrams(tally);
        result.rate = fraction(end_, "rate");
        result.elapsed = time(end_, "duration_us");
    }

    void restore_connections(RunResult& result) {
        const JsonValue& connections = member(end_, "connections", JsonValue::Kind::object);
        result.connections = {.asked = count(connections, "asked"),
                              .opened = count(connections, "opened"),
                              .failed = count(connections, "failed")};
        restore_times(result.connect_times, connections, "connect_us", "connect_histogram");
        restore_times(result.handshake_times, connections, "handshake_us",
                      "handshake_histogram");
    }

    // Left out where the system told nothing.
    void restore_tcp(RunResult& result) {
        if (!end_.find("tcp")) return;
        const JsonValue& tcp = member(end_, "tcp", JsonValue::Kind::object);
        TcpTotals facts{.retransmits = count(tcp, "retransmits"),
                        .mss = count(tcp, "mss"),
                        .cwnd = count(tcp, "cwnd")};
        if (tcp.find("min_rtt_us")) facts.min_rtt = time(tcp, "min_rtt_us");
        result.tcp = facts;
    }

    // Left out where messages had no planned times, and by earlier versions.
    void restore_plan(RunResult& result) {
        if (!end_.find("planned")) return;
        Tally& tally = result.tally;
        tally.unsent = count(end_, "unsent");
        if (count(end_, "planned") != tally.sent + tally.unsent) disagree("planned");
        result.planned_rate = {.planned = fraction(end_, "planned_rate"),
                               .reached = fraction(end_, "reached_rate")};
    }

    // Left out where messages are no datagrams.
    void restore_datagrams(Tally& tally) {
        if (!end_.find("twice")) return;
        DatagramCounts& datagrams = tally.datagrams.emplace();
        datagrams.twice = count(end_, "twice");
        datagrams.out_of_order = count(end_, "out_of_order");
        datagrams.jitter = static_cast<double>(time(end_, "jitter_us").count());
        datagrams.timed = tally.echoed + tally.bad;
    }

    void restore_failures(RunResult& result) {
        for (const JsonValue& each : member(end_, "errors", JsonValue::Kind::array).items) {
            const std::string& text = member(each, "text", JsonValue::Kind::text).text;
            const int status = small_number(each, "status");
            result.count_failure(text, status, count(each, "count"));
        }
    }

    // Both are left out where no time was measured.
    void restore_times(Histogram& to, const JsonValue& of, const char* times_name,
                       const char* buckets_name) {
        if (!of.find(times_name) && !of.find(buckets_name)) return;
        const JsonValue& times = member(of, times_name, JsonValue::Kind::object);
        const JsonValue& list = member(of, buckets_name, JsonValue::Kind::array);
        const ev::Duration min = time(times, "min");
        const ev::Duration max = time(times, "max");
        const std::uint64_t sum = nanoseconds(times, "sum");
        if (!trouble_.empty()) return;
        const auto histogram = Histogram::restored(buckets_of(list), min, max, sum);
        if (!histogram) return disagree(buckets_name);
        to = *histogram;
        // Version 0.2.0 rounded the ranks of other percentiles differently.
        if (time(times, "p50") != to.percentile(50)) disagree(times_name);
    }

    // A bucket that is none has no count, which no histogram has.
    std::vector<Histogram::Bucket> buckets_of(const JsonValue& list) {
        std::vector<Histogram::Bucket> buckets;
        for (const JsonValue& pair : list.items) {
            Histogram::Bucket bucket{.upper_end = {}, .count = 0};
            if (pair.items.size() == 2) {
                bucket.upper_end = duration(pair.items[0]).value_or(ev::Duration(-1));
                bucket.count = pair.items[1].count().value_or(0);
            }
            buckets.push_back(bucket);
        }
        return buckets;
    }

    void restore_variance(RunResult& result) {
        const JsonValue& factors = member(end_, "variance", JsonValue::Kind::object);
        for (std::size_t i = 0; i < percentiles.size(); ++i)
            result.variance_factors[i] = factor(factors, percentiles[i].name);
        result.variance_factor_of_mean = factor(factors, "mean");
    }

    const JsonValue& member(const JsonValue& of, const char* name, JsonValue::Kind kind) {
        static const JsonValue nothing;
        const JsonValue* const found = of.find(name);
        if (!found)
            fail("the end object has no \"" + std::string(name) +
                 "\": another version of yodel wrote it");
        if (found && found->kind != kind) fail_at(name);
        return found && found->kind == kind ? *found : nothing;
    }

    const JsonValue& number(const JsonValue& of, const char* name) {
        return member(of, name, JsonValue::Kind::number);
    }

    std::uint64_t count(const JsonValue& of, const char* name) {
        return checked(number(of, name).count(), name);
    }
    int small_number(const JsonValue& of, const char* name) {
        const std::uint64_t value = count(of, name);
        if (value > 255) fail_at(name);
        return static_cast<int>(value & 255);
    }
    double fraction(const JsonValue& of, const char* name) {
        const double value = checked(number(of, name).fraction(), name);
        if (value < 0 || value > largest_fraction) fail_at(name);
        return value;
    }
    double factor(const JsonValue& of, const char* name) {
        const double value = fraction(of, name);
        if (value < 1) fail_at(name);
        return value;
    }
    std::uint64_t nanoseconds(const JsonValue& of, const char* name) {
        return checked(number(of, name).nanoseconds(), name);
    }
    ev::Duration time(const JsonValue& of, const char* name) {
        return checked(duration(number(of, name)), name);
    }

    static std::optional<ev::Duration> duration(const JsonValue& value) {
        const std::optional<std::uint64_t> count = value.nanoseconds();
        const auto most = std::numeric_limits<std::int64_t>::max();
        if (!count || *count > static_cast<std::uint64_t>(most)) return std::nullopt;
        return ev::Duration(static_cast<std::int64_t>(*count));
    }

    template <class Value>
    Value checked(const std::optional<Value>& value, const char* name) {
        if (!value) fail_at(name);
        return value.value_or(Value());
    }

    void fail_at(const char* name) {
        fail(in_quotes(name) + " of the end object is not of its kind");
    }
    void disagree(const char* name) {
        fail(in_quotes(name) + " of the end object disagrees with its other figures");
    }
    void fail(const std::string& trouble) {
        if (trouble_.empty()) trouble_ = trouble;
    }

    const JsonValue& end_;
    std::string trouble_;
};

// Cuts a file into lines.
class Lines {
public:
    explicit Lines(const std::string& path) : file_(std::fopen(path.c_str(), "re")) {
        if (!file_) error_ = errno;
    }

    // Returns false at the end of the file, after an error, and after the longest line.
    bool next(std::string& line) {
        line.clear();
        if (!file_ || error_ != 0) return false;
        int byte = std::getc(file_.get());
        const bool any = byte != EOF;
        for (; byte != EOF && byte != '\n' && line.size() <= longest_line;
             byte = std::getc(file_.get()))
            line += static_cast<char>(byte);
        if (std::ferror(file_.get()) != 0) error_ = errno;
        if (line.size() > longest_line) error_ = EFBIG;
        return any && error_ == 0;
    }

    int error() const { return error_; }  // errno of what failed

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_;
    int error_ = 0;
};

bool is_end(const JsonValue& value) {
    const JsonValue* const type = value.find("type");
    return type && type->text == "end";
}

bool blank(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

}  // namespace

void add_counts(JsonObject& object, const Tally& tally) {
    object.number("sent", tally.sent).number("echoed", tally.echoed);
    object.number("bad", tally.bad).number("lost", tally.lost);
    object.number("late", tally.late).number("unasked", tally.unsolicited);
    if (!tally.datagrams) return;
    object.number("twice", tally.datagrams->twice);
    object.number("out_of_order", tally.datagrams->out_of_order);
    object.time("jitter_us", tally.datagrams->jitter_time());
}

JsonObject end_object(const RunResult& result, std::string_view reason) {
    const Tally& tally = result.tally;
    JsonObject object;
    object.text("type", "end").text("reason", reason);
    object.number("status", static_cast<std::uint64_t>(result.status));
    add_counts(object, tally);
    if (const auto& rate = result.planned_rate) {
        object.number("planned", tally.sent + tally.unsent).number("unsent", tally.unsent);
        object.fraction("planned_rate", rate->planned);
        object.fraction("reached_rate", rate->reached);
    }
    object.fraction("rate", result.rate).time("duration_us", result.elapsed);
    if (tally.round_trips.count() > 0) object.object("rtt_us", times_object(tally.round_trips));
    object.object("connections", connections_object(result));
    object.array("errors", errors_array(result.failures));
    if (result.lateness.count() > 0)
        object.object("lateness_us", times_object(result.lateness));
    if (tally.round_trips.count() > 0)
        object.array("histogram", buckets_array(tally.round_trips));
    if (result.lateness.count() > 0)
        object.array("lateness_histogram", buckets_array(result.lateness));
    object.object("variance", variance_object(result));
    if (result.tcp) object.object("tcp", tcp_object(*result.tcp));
    return object;
}

RestoredResult restored_result(const JsonValue& end) { return Restorer(end).restore(); }

std::string read_results(const std::string& path,
                         const std::function<void(std::unique_ptr<RunResult>)>& take) {
    Lines lines(path);
    std::string line;
    bool any = false;
    for (std::size_t number = 1; lines.next(line); ++number) {
        if (blank(line)) continue;
        const JsonResult read = read_json(line);
        if (!read.value) return path + ": line " + std::to_string(number) + " " + read.trouble;
        if (!is_end(*read.value)) continue;
        RestoredResult restored = restored_result(*read.value);
        if (!restored.result) return path + ": " + restored.trouble;
        take(std::move(restored.result));
        any = true;
    }
    if (lines.error() != 0) return path + ": " + std::generic_category().message(lines.error());
    return any ? "" : path + ": there is no end object, as --json writes it";
}

}  // namespace yodel
