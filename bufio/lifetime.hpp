// Shows a function whether a callback has destroyed the object that the function works for.
#pragma once

#include <memory>

namespace bufio {

// A member of that object.
class Lifetime {
public:
    // The result expires with the object, or earlier by end().
    std::weak_ptr<void> watch() {
        if (!token_) token_ = std::make_shared<char>();
        return token_;
    }
    void end() { token_.reset(); }

private:
    std::shared_ptr<void> token_;
};

}  // namespace bufio
