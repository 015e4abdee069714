#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stele::store {

// May the damage in RocksDB's write-ahead logs, or in its manifest, which has the same form, be
// what a power failure left of a write that was never acknowledged? Yes when something in them
// cannot be read and no record that can be read begins behind it: each write is one record, and the
// next one begins when it is durable. `logs` are whole files, oldest first.
bool OnlyTheEndIsDamaged(std::span<const std::string> logs);

// The end of the last fragment that can be read before anything that cannot.
std::size_t ReadableBytes(std::string_view log);

}  // namespace stele::store
