#include "app/protocol/recording.hpp"

#include "app/protocol/event_json.hpp"
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
#include <utility>

namespace yodel {

namespace {

constexpr std::size_t max_size = 256 * 1024 * 1024;

[[noreturn]] void refuse(const std::string& trouble) { throw JsonError(trouble); }

class Parser {
public:
    Parser(Recording& recording, const RecordingUse& use) : recording_(recording), use_(use) {}

    void parse(std::string_view text) {
        std::size_t number = 0;
        try {
            for (std::size_t end = 0; end != text.npos;) {
                ++number;
                end = text.find('\n');
                parse_line(text.substr(0, end));
                text.remove_prefix(end == text.npos ? 0 : end + 1);
            }
            if (!begun_) refuse("the file is empty");
            if (!ended_) refuse("the recording is truncated: the end object is missing");
        } catch (const JsonError& error) {
            recording_.trouble = {use_.replay ? usage_error : input_failed,
                                  recording_.name + ":" + std::to_string(number) + ": " +
                                      error.what()};
        }
        // Messages are recorded when their fate is known. Samples are in order.
        const auto place = [](const StoredEvent& event) {
            return std::pair(event->at, event->message.id);
        };
        if (recording_.framing)
            std::stable_sort(recording_.events.begin(), recording_.events.end(),
                             [&](const auto& a, const auto& b) { return place(a) < place(b); });
        if (recording_.framing && ended_) add_note(end_reason_, false);
    }

private:
    void parse_line(std::string_view line) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == line.npos) return;
        if (line[begin] != '{') refuse("the line is not a JSON object");
        const JsonResult read = read_json(line);
        if (!read.value) refuse("the line " + read.trouble);
        if (ended_) refuse("the recording continues after its end object");
        begun_ = true;
        const JsonFields object(*read.value);
        const std::string type = object.text_or_empty("type");
        if (!recording_.framing) return parse_begin(type, object);
        if (type == "message") return parse_message(object);
        const bool again = connected_ || has_message_;
        connected_ = type == "connection";
        ended_ = type == "end";
        if (!connected_ && !ended_) refuse("unexpected object of type \"" + type + "\"");
        if (connected_ && again && use_.replay)
            refuse("another connection begins, but only one can be replayed");
        if (connected_) return add_note("connected to " + object.text("address"), true);
        if (use_.replay && !has_message_) refuse("the recording contains no messages");
        end_reason_ = object.text_or_empty("reason");
    }

    // The result of a load begins with objects that have no payloads.
    void parse_begin(const std::string& type, const JsonFields& object) {
        if (type == "recording") return parse_header(object);
        if (use_.replay) refuse("this is not a recording (yodel --json prints one)");
        ended_ = type == "end" && object.has("samples");
        if (ended_) return parse_samples(object.object("samples"));
        if (type != "interval" && type != "connection" && type != "message")
            refuse("this is neither a recording (yodel --json) nor a load with samples");
    }

    void parse_header(const JsonFields& object) {
        const std::uint64_t version = object.count("version", 1);
        if (version != recording_version)
            refuse("the recording has version " + std::to_string(version) +
                   ", but only version " + std::to_string(recording_version) + " is supported");
        const std::string name = object.text_or_empty("framing");
        const Framing* const framing = find_framing(name);
        if (!framing || !framing->has_frames())
            refuse("the framing \"" + name + "\" is not supported in recordings");
        first_id_ = object.count("first", 1);
        const std::uint64_t connections = object.count("connections", 1);
        if (connections != 1 && use_.replay)
            refuse("this is a recording of " + std::to_string(connections) +
                   " connections, but only one can be replayed");
        recording_.framing = framing;
        recording_.started =
            parse_timestamp(object.text_or_empty("started")).value_or(recording_.started);
        const std::string expect = object.text_or_empty("expect");
        for (const Expect each : {Expect::echo, Expect::any, Expect::none})
            if (word_of(each) == expect) recording_.expect = each;
    }

    void parse_message(const JsonFields& object) {
        StoredEvent event = read_event(object, latest_);
        const Framing& framing = *recording_.framing;
        const std::string_view received = event->reply.payload;
        const std::uint64_t id = event->message.id;
        const std::string suffix = " (" + framing.label() + ")";
        const bool message = has_message(event->fate);
        const bool late = event->fate == Fate::late;
        has_message_ = true;
        if (use_.replay && message &&
            (count_pieces(framing, event->message.payload) != 1 ||
             !is_sendable(framing, use_.max_frame, event->message.payload)))
            refuse("\"sent\" is not exactly one valid message" + suffix);
        if (use_.replay && has_reply(event->fate) &&
            (framing.replies_framed() ? count_pieces(framing, received) != 1
                                      : received.empty()))
            refuse("\"received\" is not exactly one reply" + suffix);
        const bool is_new = message && ids_.insert(id).second;
        if (use_.replay && message && (id < first_id_ || (!is_new && !late)))
            refuse("message " + std::to_string(id) + " appears twice");
        latest_ = std::max(latest_, event->at);
        add(std::move(event), message && (is_new || !late));
    }

    // The messages of several connections are shown one after another.
    void parse_samples(const JsonFields& samples) {
        recording_.started =
            parse_timestamp(samples.text("started")).value_or(recording_.started);
        std::multimap<ev::Time, StoredEvent> events;
        for (const char* const list : {"slowest", "bad"})
            for (const JsonValue& each : samples.array(list).items) {
                StoredEvent event = read_event(JsonFields(each), {}, true);
                events.emplace(event->message.sent, std::move(event));
            }
        for (auto& [sent, event] : events) add(std::move(event), true);
    }

    // Adds the fate of a message, and before it the sending, if requested.
    void add(StoredEvent event, bool sending) {
        Event sent = *event;
        sent.fate = Fate::sent;
        sent.at = sent.message.sent;
        if (use_.replay && has_reply(event->fate) && event->fate != Fate::late)
            sent.message.expected = sent.reply.payload;
        sent.reply = {};
        if (sending && event->fate != Fate::unsent) recording_.events.emplace_back(sent);
        if (event->fate != Fate::sent) recording_.events.push_back(std::move(event));
    }

    void add_note(const std::string& text, bool right) {
        const Reply remark{.payload = text, .right = right};
        recording_.events.emplace_back(
            Event{.fate = Fate::note, .reply = remark, .at = latest_});
    }

    Recording& recording_;
    const RecordingUse use_;
    bool begun_ = false;
    bool connected_ = false;
    bool has_message_ = false;
    bool ended_ = false;
    std::uint64_t first_id_ = 1;
    std::set<std::uint64_t> ids_ = {};
    ev::Time latest_ = {};  // of the events
    std::string end_reason_ = {};
};

}  // namespace

void parse_recording(Recording& recording, std::string_view text, const RecordingUse& use) {
    Parser(recording, use).parse(text);
}

Recording read_recording(ev::Loop& loop, const std::string& path, const RecordingUse& use,
                         std::optional<ev::Duration> max_time) {
    const ev::Duration longest = max_time.value_or(ev::Duration::max() / 4);
    const bool standard_input = path == "-";
    Recording recording{.name = standard_input ? "standard input" : path,
                        .started = std::chrono::system_clock::now()};
    // Without O_NONBLOCK, open() would wait for the writer of a pipe.
    constexpr int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const bufio::Fd file(standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                        : ::open(path.c_str(), flags));
    std::string text;
    bool ended = false;
    const auto fail = [&](const std::string& why) {
        recording.trouble = {input_failed, recording.name + ": " + why};
        ended = true;
    };
    const auto read_piece = [&] {
        char bytes[64 * 1024];
        const ssize_t count = ::read(file.get(), bytes, sizeof bytes);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (count < 0) return fail(std::generic_category().message(errno));
        ended = count == 0;
        text.append(bytes, static_cast<std::size_t>(count));
        if (text.size() > max_size) fail("the recording is larger than 256 MiB");
    };
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0)
        fail(std::generic_category().message(errno));
    if (S_ISREG(status.st_mode))
        recording.started = std::chrono::system_clock::from_time_t(status.st_mtime);
    while (S_ISREG(status.st_mode) && !ended) read_piece();
    if (!ended) {
        ev::Timer overdue(loop, [&] { loop.stop(); });
        overdue.start(longest);
        const ev::Watch watch(loop, file.get(), ev::readable, [&](ev::Events) {
            read_piece();
            if (ended) loop.stop();
        });
        loop.run();
    }
    if (!ended)
        recording.trouble = {timed_out, recording.name + ": no recording arrived within " +
                                            duration_text(longest) + " (--max-time)"};
    if (recording.trouble.text.empty()) parse_recording(recording, text, use);
    return recording;
}

}  // namespace yodel
