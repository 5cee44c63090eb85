#include "app/websocket/transport.hpp"

#include "app/text/units.hpp"
#include "bufio/tls.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace yodel::websocket {

using bufio::By;
using bufio::End;
using bufio::IoResult;
using bufio::IoStatus;
using bufio::Reason;
using bufio::Transport;

namespace {

// Maximum bytes of frames in one read. Once as many bytes of frames are encoded, they are sent.
constexpr std::size_t piece_size = 64 * 1024;

// Maximum number of interim responses before the final one.
constexpr int max_interim = 16;

// Memory for an incomplete head and the bytes read after it, shared by all transports of a
// thread.
using ReadBuffer = std::array<char, max_frame_head + piece_size>;
ReadBuffer& read_buffer() {
    static thread_local const auto bytes = std::make_unique<ReadBuffer>();
    return *bytes;
}

// Returns a key that nobody can predict from earlier keys.
Key new_key() {
    static thread_local std::string keys;
    if (keys.empty()) keys = bufio::random_bytes(1024 * sizeof(Key));
    Key key = 0;
    std::memcpy(&key, keys.data() + keys.size() - sizeof key, sizeof key);
    keys.resize(keys.size() - sizeof key);
    return key;
}

// The state that only a client has.
struct Client {
    Request request;
    Facts& facts;
    std::string key = ui::base64(bufio::random_bytes(16));
};

class WebSocketTransport final : public Transport {
public:
    WebSocketTransport(std::unique_ptr<Transport> below, std::optional<Client> client,
                       std::size_t max_message)
        : below_(std::move(below)),
          client_(std::move(client)),
          reader_(!client_, max_message) {}

    int descriptor() const override { return below_->descriptor(); }
    const bufio::TlsFacts* tls() const override { return below_->tls(); }

    bool has_handshake() const override { return true; }
    IoResult handshake() override {
        if (!is_ready_below_) {
            const IoResult result = below_->handshake();
            if (result.status != IoStatus::done) return forward(result);
            is_ready_below_ = true;
            if (client_) wire_ = client_->request.text(client_->key);
            if (client_) client_->facts = {.request = wire_, .response = {}};
        }
        for (;;) {
            const IoResult sent = write_wire();
            if (sent.status != IoStatus::done) return sent;
            if (refusal_) {
                below_->close_output();
                return fail(refusal_);
            }
            if (is_open_) return {IoStatus::done};
            const IoResult received = receive_opening();
            if (received.status != IoStatus::done) return received;
        }
    }

    IoResult read(char* to, std::size_t size) override {
        IoResult below{end_below_.value_or(IoStatus::done)};
        std::string_view wire = undecoded_;
        if (!holds_input() && !end_below_) {
            ReadBuffer& bytes = read_buffer();
            char* const fresh = bytes.data() + wire.copy(bytes.data(), wire.size());
            below = below_->read(fresh, std::min(size, piece_size));
            wire = {bytes.data(), wire.size() + below.count};
        }
        if (is_rejected_) return forward({below.status});
        std::span<char> space(to, size);
        const IoStatus status = read_frames(wire, space);
        const IoResult result{status, size - space.size()};
        std::string(status == IoStatus::done ? wire : "").swap(undecoded_);
        if (status != IoStatus::done) return result;
        if (holds_input()) {
            store_end(below.status);
            return result;
        }
        if (below.status == IoStatus::failed) fail(below_->failure());
        if (below.status == IoStatus::end_of_input) {
            below.status = IoStatus::failed;
            fail({Reason::truncated, By::peer,
                  reader_.has_partial_input() || !undecoded_.empty()
                      ? "ended the connection inside a message, without a close frame"
                      : "ended the connection without a close frame"});
        }
        return {below.status, result.count};
    }

    IoResult write(const char* from, std::size_t size) override {
        if (wire_.empty()) {
            wire_.swap(shared_buffer());
            encode({from, size});
        }
        return write_wire();
    }

    // Sends a close frame. Closes the connection below once both sides have sent one or the
    // input was rejected. Closes it now inside a message, where no close frame may follow.
    IoResult close_output() override {
        IoResult result = is_close_sent_ ? write_wire() : write(nullptr, 0);
        if (result.status == IoStatus::done && !is_close_sent_ && is_between_frames()) {
            const unsigned code = has_input_ended_ ? reader_.closure().code : normal_closure;
            std::string payload = {static_cast<char>(code >> 8), static_cast<char>(code)};
            wire_ += make_control(Opcode::close, code == no_status ? "" : payload);
            is_close_sent_ = true;
            result = write_wire();
        }
        const bool is_over = has_input_ended_ || !is_close_sent_;
        if (result.status != IoStatus::done || !is_over) return result;
        result = below_->close_output();
        // A peer may leave as soon as both sides have sent a close frame.
        const bool peer_left = result.status == IoStatus::failed && is_close_sent_;
        return peer_left ? IoResult{IoStatus::done} : forward(result);
    }

    bool buffers_input() const override {
        return holds_input() || end_below_ || below_->buffers_input();
    }
    bool buffers_output() const override {
        return is_open_ && !is_close_sent_ &&
               (!wire_.empty() || (!controls_.empty() && is_between_frames()));
    }
    std::size_t held() const override { return is_rejected_ ? 0 : reader_.held(); }
    void ping() override { controls_ += make_control(Opcode::ping, std::to_string(++pings_)); }
    std::uint64_t answered_ping() const override { return answered_ping_; }

private:
    // Returns the result of the transport below as our own.
    IoResult forward(IoResult result) {
        return result.status == IoStatus::failed ? fail(below_->failure()) : result;
    }

    IoResult receive_opening() {
        ReadBuffer& bytes = read_buffer();
        const IoResult result = below_->read(bytes.data(), bytes.size());
        undecoded_.append(bytes.data(), result.count);
        is_open_ = client_ ? take_response() : take_request();
        store_end(result.status);
        if (is_open_ || refusal_) return {IoStatus::done};
        if (result.status == IoStatus::end_of_input)
            return fail({Reason::refused, By::peer,
                         "closed the connection during the WebSocket handshake"});
        if (result.status != IoStatus::failed) return result;
        End failure = below_->failure();
        if (failure.reason != Reason::own_certificate) failure.reason = Reason::refused;
        if (failure.by == By::system) failure.what = "the WebSocket handshake failed:";
        return fail(failure);
    }

    bool holds_input() const {
        return !is_rejected_ && (reader_.has_output() || reader_.can_use(undecoded_));
    }
    // take_response() and take_request() remove the peer's part of the handshake from the front
    // of undecoded_, which may contain more. They return true if the WebSocket is open.
    bool take_response() {
        const auto size = opening_size(undecoded_);
        const std::string response = undecoded_.substr(0, size.value_or(std::string::npos));
        refusal_ = check_start(response);
        if (refusal_ || !size) return false;
        undecoded_.erase(0, *size);
        if (is_interim(response) && ++interim_count_ <= max_interim) return take_response();
        refusal_ = check_response(response, client_->request, client_->key);
        client_->facts.response = response;
        return !refusal_;
    }

    bool take_request() {
        const auto size = opening_size(undecoded_);
        const std::string request = undecoded_.substr(0, size.value_or(std::string::npos));
        const bool may_be_get = request.empty() || request[0] == 'G';
        if (!size && may_be_get && request.size() <= max_opening_size) return false;
        undecoded_.erase(0, request.size());
        const Reply reply = reply_to(request);
        wire_ = reply.text;
        if (!reply.error.empty()) refusal_ = {Reason::receive, By::us, "refused:", reply.error};
        return !refusal_;
    }

    // Stores the end of the underlying connection, which is reported after the bytes before it.
    void store_end(IoStatus below) {
        if (below == IoStatus::end_of_input || below == IoStatus::failed) end_below_ = below;
    }

    // Reads until more bytes or space are needed, or the peer closes or breaks the protocol.
    // `done` means that the connection continues.
    IoStatus read_frames(std::string_view& wire, std::span<char>& space) {
        using Stop = FrameReader::Stop;
        if (has_input_ended_) wire = {};
        while (!has_input_ended_) {
            const Stop stop = reader_.next(wire, space);
            if (stop == Stop::blocked) break;
            if (stop != Stop::control) return take_close(stop == Stop::failed);
            if (reader_.opcode() == Opcode::ping) {
                // Drops older pings and pongs if the peer does not read, as RFC 6455 allows.
                if (controls_.size() >= piece_size) controls_.clear();
                controls_ += make_control(Opcode::pong, reader_.control());
            } else if (reader_.control() == std::to_string(pings_)) {
                answered_ping_ = pings_;
            }
        }
        return IoStatus::done;
    }

    // close_output() will send the code of this closure.
    IoStatus take_close(bool has_failed) {
        const Closure& closure = reader_.closure();
        has_input_ended_ = true;
        if (!has_failed) {
            if (client_) client_->facts.closure = closure;
            if (is_close_sent_ && wire_.empty()) below_->close_output();
            if (closure.code == normal_closure || closure.code == going_away ||
                closure.code == no_status)
                return IoStatus::end_of_input;
        }
        is_rejected_ = true;
        const bool is_too_long = has_failed && closure.code == too_big;
        fail(!has_failed   ? End{Reason::receive, By::peer, "closed with", closure.text()}
             : is_too_long ? End{Reason::limit, By::us, "", closure.reason}
                           : End{Reason::receive, By::peer,
                                 "violated the WebSocket protocol:", closure.reason});
        return IoStatus::rejected;
    }

    bool is_between_frames() const { return payload_left_ == 0 && head_.empty(); }

    std::string make_control(Opcode opcode, std::string_view payload) const {
        const Key key = client_ ? new_key() : 0;
        std::string frame(max_frame_head + payload.size(), '\0');
        const std::size_t head =
            write_head(frame.data(), opcode, payload.size(), client_ ? &key : nullptr);
        mask(frame.data() + head, payload.data(), payload.size(), key, 0);
        frame.resize(head + payload.size());
        return frame;
    }

    // Encodes messages as frames until there is a piece to send, and stores in encoded_size_
    // the number of bytes encoded.
    void encode(std::string_view messages) {
        const std::size_t size = messages.size();
        while (wire_.size() < piece_size) {
            if (is_between_frames()) wire_ += std::exchange(controls_, {});
            if (messages.empty()) break;
            if (payload_left_ == 0) {
                std::string_view head = messages.substr(0, message_head_size - head_.size());
                messages.remove_prefix(head.size());
                if (head.size() < message_head_size) head = head_ += head;
                if (head.size() < message_head_size) break;
                const Opcode opcode = head[0] == 0 ? Opcode::text : Opcode::binary;
                payload_left_ = payload_size(head);
                payload_offset_ = 0;
                if (client_) key_ = new_key();
                char frame[max_frame_head];
                wire_.append(
                    frame, write_head(frame, opcode, payload_left_, client_ ? &key_ : nullptr));
                head_.clear();
            }
            const std::size_t count = std::min({payload_left_, messages.size(), piece_size});
            wire_.resize(wire_.size() + count);
            mask(wire_.data() + wire_.size() - count, messages.data(), count, key_,
                 payload_offset_);
            messages.remove_prefix(count);
            payload_left_ -= count;
            payload_offset_ += count;
        }
        encoded_size_ = size - messages.size();
    }

    // Sends the encoded frames. Once they are all sent, the messages in them count as written.
    IoResult write_wire() {
        while (sent_size_ < wire_.size()) {
            const IoResult result =
                below_->write(wire_.data() + sent_size_, wire_.size() - sent_size_);
            if (result.status != IoStatus::done) return forward(result);
            sent_size_ += result.count;
        }
        sent_size_ = 0;
        wire_.clear();
        if (wire_.capacity() > shared_buffer().capacity()) wire_.swap(shared_buffer());
        if (wire_.capacity() > max_idle_memory) std::string().swap(wire_);
        return {IoStatus::done, std::exchange(encoded_size_, 0)};
    }

    // Reusable memory for frames that are sent immediately, as most frames are.
    static std::string& shared_buffer() {
        static thread_local std::string memory;
        return memory;
    }
    static constexpr std::size_t max_idle_memory = 256;  // bytes, of one connection

    std::unique_ptr<Transport> below_;
    std::optional<Client> client_;
    bool is_ready_below_ = false;   // the handshake below is done
    bool is_open_ = false;          // our own handshake is done
    bool has_input_ended_ = false;  // the peer sent a close frame, or its input was rejected
    bool is_rejected_ = false;
    bool is_close_sent_ = false;
    End refusal_;
    int interim_count_ = 0;  // responses before the final one
    // Input.
    FrameReader reader_;
    std::string undecoded_;  // bytes that were read and not yet turned into messages
    std::optional<IoStatus> end_below_;  // the end below, reported after all messages
    // Output.
    std::string controls_;     // pings and pongs that wait for the end of a message
    std::uint64_t pings_ = 0;  // pings sent, each with its number as payload
    std::uint64_t answered_ping_ = 0;
    std::string wire_;              // frames to send
    std::size_t sent_size_ = 0;     // bytes of wire_ that are sent
    std::size_t encoded_size_ = 0;  // bytes of messages encoded in wire_
    std::string head_;              // the first bytes of a message's head
    std::size_t payload_left_ = 0;  // payload bytes of the current frame still to be encoded
    std::uint64_t payload_offset_ = 0;  // offset of the next byte to encode
    Key key_ = 0;
};

}  // namespace

std::unique_ptr<Transport> connect(std::unique_ptr<Transport> below, Request request,
                                   std::size_t max_message, Facts& facts) {
    return std::make_unique<WebSocketTransport>(std::move(below),
                                                Client{std::move(request), facts}, max_message);
}

std::unique_ptr<Transport> accept(std::unique_ptr<Transport> below, std::size_t max_message) {
    return std::make_unique<WebSocketTransport>(std::move(below), std::nullopt, max_message);
}

}  // namespace yodel::websocket
