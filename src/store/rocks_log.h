#pragma once

#include <span>
#include <string>

namespace stele::store {

// May the damage in RocksDB's write-ahead logs be what a power failure left of a write that was
// never acknowledged? Yes when something in them cannot be read and no record that can be read
// begins behind it: each write is one record, and the next one begins when it is durable.
// `logs` are whole files, oldest first.
bool OnlyTheEndIsDamaged(std::span<const std::string> logs);

}  // namespace stele::store
