#pragma once

#include <memory>
#include <string>

#include "store/container_table.h"

namespace rocksdb {
class Env;
}

namespace stele::store {

// OpenRocksBlockTable() and OpenDurableRocksTable() on other files and threads than the system's:
// tests take the power from them. Borrow `env` for the table's life.
Result<std::unique_ptr<BlockTable>> OpenRocksBlockTableOn(rocksdb::Env& env,
                                                          const std::string& directory);
Result<std::unique_ptr<BlockTable>> OpenDurableRocksTableOn(rocksdb::Env& env,
                                                            const std::string& directory);

}  // namespace stele::store
