// A queue in contiguous memory. Unlike std::deque, it does not allocate while empty, or while
// items come and go at the same rate, and plain pointers iterate over it. Appending at the end
// and removing at the front take amortized constant time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace yodel {

template <class Item>
class ContiguousQueue {
public:
    bool empty() const { return begin_ == items_.size(); }
    std::size_t size() const { return items_.size() - begin_; }
    std::size_t capacity() const { return items_.capacity(); }
    Item& operator[](std::size_t i) { return items_[begin_ + i]; }
    const Item& operator[](std::size_t i) const { return items_[begin_ + i]; }
    Item& front() { return items_[begin_]; }
    const Item& front() const { return items_[begin_]; }
    Item* begin() { return items_.data() + begin_; }
    Item* end() { return items_.data() + items_.size(); }
    const Item* begin() const { return items_.data() + begin_; }
    const Item* end() const { return items_.data() + items_.size(); }

    // push_back() and insert() invalidate all references to items.
    Item& push_back(Item item) {
        make_space();
        return items_.emplace_back(std::move(item));
    }
    void insert(std::size_t place, Item item) {
        if (place < size() / 2) return insert_in_first_half(place, std::move(item));
        items_.insert(items_.begin() + offset(place), std::move(item));
    }

    // Retains the memory for later items, but a queue that grew long frees it when it becomes
    // empty.
    void pop_front() {
        ++begin_;
        if (!empty()) return;
        items_.clear();
        begin_ = 0;
        if (items_.capacity() > max_idle_capacity) std::vector<Item>().swap(items_);
    }

private:
    static constexpr std::size_t max_idle_capacity = 64;  // items

    std::ptrdiff_t offset(std::size_t place) const {
        return static_cast<std::ptrdiff_t>(begin_ + place);
    }

    // Moves the items before `place` forward by one, and puts the item into the gap.
    void insert_in_first_half(std::size_t place, Item item) {
        if (begin_ == 0) make_space_in_front();
        --begin_;
        std::move(begin() + 1, begin() + place + 1, begin());
        items_[begin_ + place] = std::move(item);
    }

    // Doubles the space, so that making space takes amortized constant time for each item.
    void make_space_in_front() {
        const std::size_t count = items_.size();
        items_.resize(2 * count);
        std::move_backward(items_.begin(), items_.begin() + offset(count), items_.end());
        begin_ = count;
    }

    // Moves the items to the front if the memory is full and they do not outnumber the removed
    // items, so that push_back() takes amortized constant time.
    void make_space() {
        if (items_.size() < items_.capacity() || begin_ < size()) return;
        items_.erase(items_.begin(), items_.begin() + offset(0));
        begin_ = 0;
    }

    std::vector<Item> items_;
    std::size_t begin_ = 0;  // index of the first item; the items before it were removed
};

}  // namespace yodel
