// The system's limit on the descriptors of this process.
#pragma once

#include <cstddef>

namespace yodel {

// Makes room for so many descriptors beside those of the program itself: raises the soft limit
// to the hard one. Throws std::runtime_error, with both numbers, where that does not suffice.
void provide_descriptors(std::size_t count);

// The limit as it is now; 0: there is none.
std::size_t descriptor_limit();
// The number of descriptors in use. Looks at the lowest 256 only.
std::size_t used_descriptors();

}  // namespace yodel
