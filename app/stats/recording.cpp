#include "app/stats/recording.hpp"

#include "app/text/units.hpp"
#include "bufio/fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>

namespace yodel {

namespace {

// Readers accept no other version of the format.
constexpr std::uint64_t recording_version = 2;

constexpr std::size_t max_recording = 256 * 1024 * 1024;  // bytes

// Buffered bytes that trigger a write, and their maximum for a slow reader.
constexpr std::size_t min_write_size = 16 * 1024;
constexpr std::size_t max_pending_bytes = 1024 * 1024;

std::string refusal(const JournalFile& file) {
    return std::string("cannot write the ") + file.kind() + " " + file.path;
}

bufio::Fd open_journal(const JournalFile& file) {
    // Without O_NONBLOCK, opening a FIFO would block until a reader opens it.
    constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    bufio::Fd fd(::open(file.path.c_str(), flags, 0600));
    const int error = errno;
    struct stat status {};
    ::stat(file.path.c_str(), &status);
    const bool has_no_reader = error == ENXIO && S_ISFIFO(status.st_mode);
    if (!fd)
        throw FileError(output_failed,
                        refusal(file) + (has_no_reader ? ": the pipe has no reader" : ""),
                        error);
    if (file.is_recording && S_ISREG(status.st_mode) && status.st_size > 0)
        throw FileError(output_failed, refusal(file), EEXIST);
    return fd;
}

[[noreturn]] void refuse(const std::string& trouble) { throw JsonError(trouble); }

struct RecordingParser {
    void parse(std::string_view text) {
        const bool is_blank = text.find_first_not_of(" \t\r\n") == text.npos;
        std::size_t number = 0;
        try {
            for (std::size_t end = 0; end != text.npos;) {
                ++number;
                end = text.find('\n');
                parse_line(text.substr(0, end));
                text.remove_prefix(end == text.npos ? 0 : end + 1);
            }
            if (is_blank) refuse("the file is empty");
            if (!has_ended) refuse("the recording is truncated: the end object is missing");
        } catch (const JsonError& error) {
            recording.trouble = {use.is_replay ? usage_error : input_failed,
                                 recording.name + ":" + std::to_string(number) + ": " +
                                     error.what()};
        }
        if (!recording.framing) return;
        // A message is recorded when its fate is known, so the lines are not sorted by time.
        const auto place = [](const StoredEvent& event) {
            return std::pair(event->at, event->message.id);
        };
        std::stable_sort(recording.events.begin(), recording.events.end(),
                         [&](const auto& a, const auto& b) { return place(a) < place(b); });
        if (has_ended) add_note(end_reason, false);
    }

    void parse_line(std::string_view line) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == line.npos) return;
        if (line[begin] != '{') refuse("the line is not a JSON object");
        const JsonValue object = read_json(line);
        if (has_ended) refuse("the recording continues after its end object");
        const std::string type = object.text_or_empty("type");
        if (!recording.framing) return parse_begin(type, object);
        if (type == "message") return parse_message(object);
        if (type == "connection") {
            if (use.is_replay && !recording.events.empty())
                refuse("another connection begins, but only one can be replayed");
            return add_note("connected to " + object.text("address"), true);
        }
        if (type != "end") refuse("unexpected object of type \"" + type + "\"");
        has_ended = true;
        // In a replay, only the first event can be a note.
        const std::vector<StoredEvent>& events = recording.events;
        const bool is_silent = events.empty() || events.back()->fate == Fate::note;
        if (use.is_replay && is_silent) refuse("the recording contains no messages");
        end_reason = object.text_or_empty("reason");
    }

    // A load prints other objects before its end object, which contains the samples.
    void parse_begin(const std::string& type, const JsonValue& object) {
        if (type == "recording") return parse_header(object);
        if (use.is_replay) refuse("this is not a recording (yodel --json prints one)");
        recording.has_samples = type == "end" && object.has("samples");
        if (recording.has_samples) {
            has_ended = true;
            parse_samples(object.get("samples", JsonValue::Kind::object, "an object"));
            return parse_round_trips(object);
        }
        if (type != "interval" && type != "connection" && type != "message")
            refuse("this is neither a recording (yodel --json) nor a load with samples "
                   "(yodel-load --json)");
    }

    void parse_header(const JsonValue& object) {
        const std::uint64_t version = object.count("version", 1);
        if (version != recording_version)
            refuse("the recording has version " + std::to_string(version) +
                   ", but only version " + std::to_string(recording_version) + " is supported");
        const std::string name = object.text_or_empty("framing");
        const Framing* const framing = find_framing(name);
        if (!framing || !framing->has_frames())
            refuse("the framing \"" + name + "\" is not supported in recordings");
        first_id = object.count("first", 1);
        const std::uint64_t connections = object.count("connections", 1);
        if (connections != 1 && use.is_replay)
            refuse("this is a recording of " + std::to_string(connections) +
                   " connections, but only one can be replayed");
        recording.framing = framing;
        set_started(object.text_or_empty("started"));
        const std::string expect = object.text_or_empty("expect");
        for (const Expect each : {Expect::echo, Expect::any, Expect::none})
            if (word_of(each) == expect) recording.expect = each;
    }

    void parse_message(const JsonValue& object) {
        StoredEvent event = read_event(object, latest_at);
        const Message& message = event->message;
        const bool has_id = has_message(event->fate);
        const bool is_new = has_id && ids.insert(message.id).second;
        const bool is_late = event->fate == Fate::late;
        if (use.is_replay) {
            const Framing& framing = *recording.framing;
            const std::string suffix = " (" + framing.label() + ")";
            const std::string_view received = event->reply.payload;
            const bool is_one_reply = framing.has_framed_replies()
                                          ? count_pieces(framing, received) == 1
                                          : !received.empty();
            if (has_id && (count_pieces(framing, message.payload) != 1 ||
                           !is_sendable(framing, use.max_frame, message.payload)))
                refuse("\"sent\" is not exactly one valid message" + suffix);
            if (has_reply(event->fate) && !is_one_reply)
                refuse("\"received\" is not exactly one reply" + suffix);
            if (has_id && (message.id < first_id || (!is_new && !is_late)))
                refuse("message " + std::to_string(message.id) + " appears twice");
        }
        latest_at = std::max(latest_at, event->at);
        add(std::move(event), has_id && (is_new || !is_late));
    }

    // Messages of several connections overlap in time, so each is directly followed by its
    // fate.
    void parse_samples(const JsonValue& samples) {
        set_started(samples.text("started"));
        std::multimap<ev::Time, StoredEvent> events;
        for (const char* const list : {"slowest", "bad"})
            for (const JsonValue& each :
                 samples.get(list, JsonValue::Kind::array, "an array").items) {
                StoredEvent event = read_event(each, {}, true);
                events.emplace(event->message.sent_at, std::move(event));
            }
        for (auto& [sent, event] : events) add(std::move(event), true);
    }

    // If no round trip was timed, the end object contains neither member.
    void parse_round_trips(const JsonValue& end) {
        if (!end.has("histogram")) return;
        const JsonValue& known = end.get("rtt_us", JsonValue::Kind::object, "an object");
        for (JsonValue bucket :
             end.get("histogram", JsonValue::Kind::array, "an array").items) {
            if (bucket.items.size() != 2) refuse("a bucket is not a pair of numbers");
            bucket.names = {"time", "count"};
            const ev::Duration time = std::max(bucket.time("time"), known.time("min"));
            recording.round_trips.record(std::min(time, known.time("max")),
                                         bucket.count("count"));
        }
    }

    void set_started(const std::string& text) {
        recording.started = parse_timestamp(text).value_or(recording.started);
    }

    // Adds an event. If `adds_sending`, first adds the sending of its message, unless that is
    // unsent.
    void add(StoredEvent event, bool adds_sending) {
        Event sent = *event;
        sent.fate = Fate::sent;
        sent.at = sent.message.sent_at;
        if (use.is_replay && has_reply(event->fate) && event->fate != Fate::late)
            sent.message.expected = sent.reply.payload;
        sent.reply = {};
        if (adds_sending && event->fate != Fate::unsent) recording.events.emplace_back(sent);
        if (event->fate != Fate::sent) recording.events.push_back(std::move(event));
    }

    void add_note(const std::string& text, bool is_right) {
        recording.events.emplace_back(
            Event{.reply = {.payload = text, .is_right = is_right}, .at = latest_at});
    }

    Recording& recording;
    const RecordingUse& use;
    bool has_ended = false;
    std::uint64_t first_id = 1;
    std::set<std::uint64_t> ids = {};
    ev::Time latest_at = {};  // time of the latest event
    std::string end_reason = {};
};

}  // namespace

// --- Objects

JsonObject recording_object(const SessionOptions& options, std::uint64_t first,
                            std::size_t connections,
                            std::chrono::system_clock::time_point started) {
    JsonObject object;
    object.text("type", "recording").number("version", recording_version);
    object.text("framing", options.framing->name).number("first", first);
    object.number("connections", connections).text("started", timestamp_text(started));
    return object.text("expect", word_of(options.expect));
}

JsonObject tls_object(const bufio::TlsFacts& facts) {
    JsonObject object;
    object.text("version", facts.version).text("cipher", facts.cipher);
    object.text("group", facts.group).text("alpn", facts.alpn);
    object.text("subject", facts.subject).text("issuer", facts.issuer);
    object.text("not_after", facts.not_after).text("pin", facts.pin);
    object.flag("verified", facts.faults_text.empty());
    object.text("unverified", certificate_faults_text(facts));
    return object.flag("resumed", facts.is_resumed);
}

JsonObject connection_object(const Session& session, std::size_t number) {
    const Session::Phases& phases = session.phases();
    JsonObject object;
    object.text("type", "connection");
    if (number > 0) object.number("connection", number);
    object.text("address", session.address().text());
    object.text("framing", session.options().framing->name);
    object.time("lookup_us", phases.lookup).time("connect_us", phases.tcp);
    if (phases.handshake) object.time("handshake_us", *phases.handshake);
    if (session.tls()) object.object("tls", tls_object(*session.tls()));
    return object;
}

// --- Writing

Journal::Journal(JournalFile file, const SessionOptions& options, std::uint64_t first,
                 ev::Time now)
    : file_(std::move(file)),
      output_(open_journal(file_)),
      start_(now),
      first_(first),
      records_sent_(options.expect == Expect::none) {
    if (is_recording())
        put(recording_object(options, first_, 1, std::chrono::system_clock::now()).str() +
            "\n");
}

bool Journal::add_event(const Event& event) {
    if (!is_recording()) {
        put(lines(std::chrono::system_clock::now(), event));
        return false;
    }
    const bool is_earlier = has_message(event.fate) && event.message.id < first_;
    const bool has_no_fate = event.fate == Fate::note || event.fate == Fate::read ||
                             (event.fate == Fate::sent && !records_sent_);
    if (is_earlier || has_no_fate) return false;
    put(json(event, start_, {.max_payload = whole_payload}).str() + "\n");
    return true;
}

void Journal::put(std::string_view lines) {
    if (!trouble_.empty()) return;
    output_.append(lines);
    if (output_.pending() >= min_write_size) flush();
}

bool Journal::flush() {
    output_.flush();
    if (output_.error() != 0) fail(output_.error_text());
    if (output_.pending() > max_pending_bytes) fail("its reader did not keep up");
    return trouble_.empty();
}

bool Journal::drain() {
    if (trouble_.empty()) output_.drain(max_final_drain);
    flush();
    if (output_.pending() > 0) fail("its reader did not keep up; output is incomplete");
    return trouble_.empty();
}

bool Journal::finish(const std::string& end) {
    if (is_recording()) put(end + "\n");
    return drain();
}

void Journal::fail(const std::string& why) {
    trouble_ = refusal(file_) + ": " + why;
    output_.clear();
}

// --- Reading

void parse_recording(Recording& recording, std::string_view text, const RecordingUse& use) {
    RecordingParser{recording, use}.parse(text);
}

Recording read_recording(ev::Loop& loop, const std::string& path, const RecordingUse& use,
                         std::optional<ev::Duration> max_time) {
    const ev::Duration longest = max_time.value_or(ev::Duration::max() / 4);
    const bool is_standard_input = path == "-";
    Recording recording{.name = is_standard_input ? "standard input" : path,
                        .started = std::chrono::system_clock::now()};
    const auto failed = [&](const std::string& why, int status = input_failed) {
        recording.trouble = {status, recording.name + ": " + why};
        return std::move(recording);
    };
    // Without O_NONBLOCK, open() would wait for the writer of a pipe.
    constexpr int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const bufio::Fd file(is_standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                           : ::open(path.c_str(), flags));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0)
        return failed(std::generic_category().message(errno));
    if (S_ISREG(status.st_mode))
        recording.started = std::chrono::system_clock::from_time_t(status.st_mtime);
    std::string text;
    std::optional<std::string> trouble;  // empty once the whole file has arrived
    ev::Timer timeout(loop, [&] { loop.stop(); });
    timeout.start(longest);
    const ev::Watch watch(loop, file.get(), ev::readable, [&](ev::Events) {
        char bytes[64 * 1024];
        const ssize_t count = ::read(file.get(), bytes, sizeof bytes);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (count == 0) trouble = "";
        if (count < 0) trouble = std::generic_category().message(errno);
        if (count > 0) text.append(bytes, static_cast<std::size_t>(count));
        if (text.size() > max_recording) trouble = "the recording is larger than 256 MiB";
        if (trouble) loop.stop();
    });
    loop.run();
    if (!trouble)
        return failed("the recording did not end within " + duration_text(longest) +
                          " (--max-time)",
                      timed_out);
    if (!trouble->empty()) return failed(*trouble);
    parse_recording(recording, text, use);
    return recording;
}

}  // namespace yodel
