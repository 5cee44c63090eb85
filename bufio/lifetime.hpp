// Detects whether a callback has destroyed the object whose member function is running.
#pragma once

#include <memory>

namespace bufio {

// Make it a member of the object.
class Lifetime {
public:
    // The result expires with the object, or at end() if that is called earlier.
    std::weak_ptr<void> watch() {
        if (!token_) token_ = std::make_shared<char>();
        return token_;
    }
    void end() { token_.reset(); }

private:
    std::shared_ptr<void> token_;
};

}  // namespace bufio
