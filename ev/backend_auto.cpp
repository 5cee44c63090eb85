#include "ev/backend.hpp"

#include "ev/system.hpp"

#if EV_HAS_EPOLL

#    include <algorithm>
#    include <exception>
#    include <utility>

namespace ev {

namespace {

// The time of poll grows with the descriptors that are watched, that of epoll with those that
// are ready. In each wait this backend adds up how much longer its present choice took than the
// other one would have taken, by costs that were measured once, and changes when the sum has
// reached about the cost of a change. Each change makes the next one harder, so that a load
// between the two does not have it change back and forth.
class AutoBackend final : public Backend {
public:
    void set(Registration& registration, Events interest) override {
        backend_->set(registration, interest);
    }

    // The change is made here and not by set(), which has registrations in its hands.
    void wait(std::chrono::nanoseconds longest, std::vector<Readiness>& ready) override {
        if (excess_ > patience_ * (watched() + 16)) change();
        const std::size_t before = ready.size();
        backend_->wait(longest, ready);
        weigh(longest > longest.zero(), static_cast<long>(ready.size() - before));
    }

private:
    long watched() const { return static_cast<long>(backend_->size()); }

    // The unit is about 17 ns, the time that poll takes for a descriptor. If it may sleep, the
    // kernel also takes and drops a hook for each.
    void weigh(bool may_sleep, long found) {
        const long by_poll = watched() * (may_sleep ? 4 : 1);
        const long by_epoll = found * 8 + 1;
        const long difference = by_poll - by_epoll;
        excess_ = std::max(0L, excess_ + (uses_epoll_ ? -difference : difference));
    }

    void change() {
        excess_ = 0;
        patience_ = std::min(2 * patience_, 512L);
        try {
            std::unique_ptr<Backend> other =
                uses_epoll_ ? std::make_unique<Backend>() : make_epoll_backend();
            backend_->copy_to(*other);
            backend_ = std::move(other);
            uses_epoll_ = !uses_epoll_;
        } catch (const std::exception&) {
            // Descriptors may have run out, or epoll refuses one: the present one serves them.
        }
    }

    std::unique_ptr<Backend> backend_ = std::make_unique<Backend>();
    bool uses_epoll_ = false;
    long excess_ = 0;    // what the present choice has cost more than the other, in those units
    long patience_ = 8;  // the excess for each descriptor from which on it changes
};

}  // namespace

std::unique_ptr<Backend> make_auto_backend() { return std::make_unique<AutoBackend>(); }

}  // namespace ev
#endif
