#include "app/stats/end_object.hpp"

#include "app/stats/figures.hpp"
#include "app/stats/summary.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/quotes.hpp"

#include <algorithm>
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

// Above it are those of a shell about commands and signals, such as the one that ended a run.
constexpr int highest_own_status = 125;

void add_times(JsonObject& object, const Results& results, const TimesRow& row) {
    const Histogram& times = results.*row.times;
    if (times.count() == 0) return;
    JsonObject members;
    for (const Statistic& statistic : statistics)
        members.time(statistic.name, statistic.of(times));
    object.object(row.object, members.nanoseconds("sum", times.sum()));
    JsonArray buckets;
    for (const Histogram::Bucket& bucket : times.buckets())
        buckets.array(JsonArray().time(bucket.upper_end).number(bucket.count));
    object.array(row.buckets, buckets);
}

JsonObject connections_object(const Results& results) {
    JsonObject object;
    object.number("asked", results.asked).number("opened", results.opened);
    object.number("failed", results.failed);
    for (const TimesRow& row : times_rows)
        if (row.of_connections) add_times(object, results, row);
    return object;
}

JsonObject tcp_object(const TcpTotals& tcp) {
    JsonObject object;
    if (tcp.min_rtt) object.time("min_rtt_us", *tcp.min_rtt);
    object.number("retransmits", tcp.retransmits);
    return object.number("mss", tcp.mss).number("cwnd", tcp.cwnd);
}

JsonArray errors_array(const std::vector<Results::Failure>& failures) {
    JsonArray array;
    for (const Results::Failure& failure : failures)
        array.object(JsonObject()
                         .text("text", failure.text)
                         .number("status", static_cast<std::uint64_t>(failure.status))
                         .number("count", failure.count)
                         .number("failed", failure.failed));
    return array;
}

JsonObject replay_object(const Results& results) {
    JsonObject object;
    object.number("said", results.sent).number("as_before", results.echoed);
    object.number("different", results.bad).number("lost", results.lost);
    object.number("unsolicited_as_before", results.replay->recurred);
    object.number("missing", results.replay->missing);
    return object.number("unrecorded", results.replay->unrecorded);
}

// A figure of messages; those of connections are in their object.
bool is_message_count(const Figure& figure) {
    return figure.count && figure.path == figure.name;
}

// Takes the members that a result needs out of the object. The first one that is missing or of
// another kind is the trouble.
class Restorer {
public:
    explicit Restorer(const JsonValue& end) : end_(end) {}

    RestoredResults restore() {
        const JsonValue* const type = end_.find("type");
        if (!type || type->text != "end") return {nullptr, "there is no end object"};
        auto results = std::make_unique<Results>();
        restore_counts(*results);
        restore_connections(*results);
        for (const TimesRow& row : times_rows) restore_times(*results, row);
        if (results->round_trips.count() > results->echoed + results->bad)
            disagree("histogram");
        restore_status(*results);
        if (trouble_.empty()) return {std::move(results), ""};
        return {nullptr, trouble_};
    }

private:
    void restore_counts(Results& results) {
        for (const Figure& figure : figures())
            if (is_message_count(figure)) results.*figure.count = message_count(figure.name);
        if (end_.find("planned")) {
            if (count(end_, "planned") != results.sent + results.unsent) disagree("planned");
            results.planned_rate = {.planned = fraction(end_, "planned_rate"),
                                    .reached = fraction(end_, "reached_rate")};
        }
        if (end_.find("jitter_us")) {
            results.datagrams = true;
            results.jitter_count = results.echoed + results.bad;
            results.jitter_sum = static_cast<double>(time(end_, "jitter_us").count()) *
                                 static_cast<double>(results.jitter_count);
        }
        if (end_.find("replay")) {
            const JsonValue& replay = member(end_, "replay", JsonValue::Kind::object);
            const char* const recurred = replay.find("unasked_as_before")
                                             ? "unasked_as_before"
                                             : "unsolicited_as_before";
            results.replay = {.recurred = count(replay, recurred),
                              .unrecorded = count(replay, "unrecorded"),
                              .missing = count(replay, "missing")};
        }
        results.measured = {.elapsed = time(end_, "duration_us"),
                            .rate = fraction(end_, "rate")};
    }

    // Version 0.2.0 called unsolicited messages unasked, and left out what could not be.
    std::uint64_t message_count(const std::string& name) {
        const bool renamed = name == "unsolicited" && !end_.find(name);
        if (renamed) return count(end_, "unasked");
        const bool newer = name == "unsent" || name == "twice" || name == "out_of_order";
        return newer && !end_.find(name) ? 0 : count(end_, name.c_str());
    }

    void restore_connections(Results& results) {
        const JsonValue& connections = member(end_, "connections", JsonValue::Kind::object);
        results.asked = count(connections, "asked");
        results.opened = count(connections, "opened");
        results.failed = count(connections, "failed");
        for (const JsonValue& each : member(end_, "errors", JsonValue::Kind::array).items) {
            const std::string& text = member(each, "text", JsonValue::Kind::text).text;
            results.failures.push_back(
                {.text = text,
                 .status = small_number(each, "status"),
                 .count = count(each, "count"),
                 .failed = each.find("failed") ? count(each, "failed") : 0});
        }
        if (!end_.find("tcp")) return;
        const JsonValue& tcp = member(end_, "tcp", JsonValue::Kind::object);
        results.tcp = {.retransmits = count(tcp, "retransmits"),
                       .mss = count(tcp, "mss"),
                       .cwnd = count(tcp, "cwnd")};
        if (tcp.find("min_rtt_us")) results.tcp->min_rtt = time(tcp, "min_rtt_us");
    }

    // A status of 1 that follows from the counts is left to the verdict on the sum. What ended
    // a run by a signal is no failure with a number of its own.
    void restore_status(Results& results) {
        int status = small_number(end_, "status");
        if (status > highest_own_status) status = reply_wrong_or_lost;
        if (status == reply_wrong_or_lost && exit_status(results, {}) == status) return;
        const auto before_opening = [status](const Results::Failure& failure) {
            return failure.status == status && failure.failed == failure.count;
        };
        const bool never_opened =
            std::any_of(results.failures.begin(), results.failures.end(), before_opening);
        results.count_end(status, !never_opened);
    }

    // Both are left out where no time was measured.
    void restore_times(Results& results, const TimesRow& row) {
        const JsonValue& of =
            row.of_connections ? member(end_, "connections", JsonValue::Kind::object) : end_;
        if (!of.find(row.object) && !of.find(row.buckets)) return;
        const JsonValue& times = member(of, row.object, JsonValue::Kind::object);
        const JsonValue& list = member(of, row.buckets, JsonValue::Kind::array);
        const ev::Duration min = time(times, "min");
        const ev::Duration max = time(times, "max");
        const std::uint64_t sum = nanoseconds(times, "sum");
        if (!trouble_.empty()) return;
        const auto histogram = Histogram::restored(buckets_of(list), min, max, sum);
        if (!histogram) return disagree(row.buckets);
        // Version 0.2.0 rounded the ranks of other percentiles differently.
        if (time(times, "p50") != histogram->percentile(50)) disagree(row.object);
        results.*row.times = *histogram;
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

void add_counts(JsonObject& object, const Results& results) {
    for (const Figure& figure : figures())
        if (is_message_count(figure) && figure.value(results))
            object.number(figure.path, results.*figure.count);
    if (results.datagrams) object.time("jitter_us", results.jitter());
}

JsonObject end_object(const Results& results, std::string_view reason, int status,
                      const Verdict& verdict) {
    JsonObject object;
    object.text("type", "end").text("reason", reason);
    object.number("status", static_cast<std::uint64_t>(status));
    add_counts(object, results);
    if (results.planned_rate) {
        object.number("planned", results.sent + results.unsent);
        object.fraction("planned_rate", results.planned_rate->planned);
        object.fraction("reached_rate", results.planned_rate->reached);
    }
    object.fraction("rate", results.rate()).time("duration_us", results.elapsed());
    for (const TimesRow& row : times_rows)
        if (!row.of_connections) add_times(object, results, row);
    object.object("connections", connections_object(results));
    object.array("errors", errors_array(results.failures));
    if (results.tcp) object.object("tcp", tcp_object(*results.tcp));
    if (results.replay) object.object("replay", replay_object(results));
    if (verdict.comparison) object.object("compare", verdict.comparison->json());
    return object;
}

RestoredResults restored_results(const JsonValue& end) { return Restorer(end).restore(); }

std::string read_results(const std::string& path,
                         const std::function<void(std::unique_ptr<Results>)>& take) {
    Lines lines(path);
    std::string line;
    bool any = false;
    for (std::size_t number = 1; lines.next(line); ++number) {
        if (blank(line)) continue;
        const JsonResult read = read_json(line);
        if (!read.value) return path + ": line " + std::to_string(number) + " " + read.trouble;
        if (!is_end(*read.value)) continue;
        RestoredResults restored = restored_results(*read.value);
        if (!restored.results) return path + ": " + restored.trouble;
        take(std::move(restored.results));
        any = true;
    }
    if (lines.error() != 0) return path + ": " + std::generic_category().message(lines.error());
    return any ? "" : path + ": there is no end object, as --json writes it";
}

}  // namespace yodel
