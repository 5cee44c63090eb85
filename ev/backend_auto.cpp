#ifdef __linux__
#    include "ev/backend.hpp"

#    include <exception>
#    include <utility>

namespace ev {

namespace {

// Where few of many descriptors are ready at a time, epoll takes half of poll's time or less;
// where most are, a tenth more. With few descriptors, poll is never far behind.
class AutoBackend final : public Backend {
public:
    explicit AutoBackend(std::size_t threshold) : threshold_(threshold) {}

    void set(Registration& registration, Events interest) override {
        backend_->set(registration, interest);
    }

    // The change is made here and not by set(), which has registrations in its hands.
    void wait(std::chrono::nanoseconds longest, std::vector<Readiness>& ready) override {
        if (may_change_ && backend_->size() > threshold_) change_to_epoll();
        backend_->wait(longest, ready);
    }

private:
    void change_to_epoll() {
        may_change_ = false;
        try {
            std::unique_ptr<Backend> epoll = make_epoll_backend();
            backend_->copy_to(*epoll);
            backend_ = std::move(epoll);
        } catch (const std::exception&) {
            // Descriptors may have run out, or epoll refuses one: poll serves them all.
        }
    }

    const std::size_t threshold_;
    std::unique_ptr<Backend> backend_ = std::make_unique<Backend>();
    bool may_change_ = true;
};

}  // namespace

std::unique_ptr<Backend> make_auto_backend(std::size_t threshold) {
    return std::make_unique<AutoBackend>(threshold);
}

}  // namespace ev
#endif
