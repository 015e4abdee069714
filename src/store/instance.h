#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "store/composition.h"
#include "store/volume.h"

namespace stele::store {

// Several volumes as one store. Any number of applications share it, each by its own owner name.
// Thread-safe. All volumes have the same signature function.
class Instance {
 public:
  struct Options {
    Placement placement = Placement::kModulo;
    std::shared_ptr<const SignatureFunction> signature = {};  // never null
    // Where contents that can be read only once wait until their signature is known, when they
    // have more than `memory_bytes_max` bytes. `fs` is borrowed for life.
    io::FileSystem* fs = nullptr;
    std::string temporary_directory = {};
    std::uint64_t memory_bytes_max = 1 << 20;
  };

  struct StoreOptions {
    StoreMode mode = StoreMode::kRegular;
    std::string media_type = {};
    Operation operation = {};
    // Search and store here and nowhere else: for a client's own balancing, and for replicas.
    std::optional<std::string> volume = {};
  };

  // Requires: one volume at least, names all different.
  Instance(std::vector<std::unique_ptr<Volume>> volumes, Options options);
  ~Instance();

  const std::vector<std::unique_ptr<Volume>>& volumes() const { return volumes_; }
  // Null when there is none.
  Volume* Find(std::string_view volume) const;

  // Looks for the content in all volumes, the one it belongs to first, and makes a block in the
  // first in that order which is writable. A volume that fails is passed over; a content that only
  // it has is then stored a second time.
  // Errors: kFull when no volume takes it; kNotFound for an unknown volume; the last error when all
  // volumes failed; those of `content`.
  Result<Stored> Store(std::string_view content, const StoreOptions& options);
  // A source with a file is read twice; others are kept in a temporary file when they are large.
  Result<Stored> Store(io::Source& content, const StoreOptions& options);

  // Straight to the key's volume, however many there are. Errors: as Volume; kNotFound for a volume
  // that is not here.
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key);
  Status Delete(const ContentKey& key, const Operation& operation);
  Result<BlockInfo> Stat(const ContentKey& key);

  // From the first of several replicas that can be opened. Requires: one key at least.
  Result<std::unique_ptr<io::Source>> RetrieveAny(std::span<const ContentKey> replicas);

  // The volumes in the order in which a content is looked for and placed.
  std::vector<Volume*> OrderFor(const Signature& signature) const;

 private:
  class Content;

  Result<Stored> StoreContent(const Content& content, const StoreOptions& options);
  Result<std::optional<Stored>> Search(const std::vector<Volume*>& order,
                                       const StoreRequest& request, const Content& content);

  const std::vector<std::unique_ptr<Volume>> volumes_;
  const Options options_;
  Composition composition_;  // of volumes_, in their order
  std::atomic<std::uint64_t> temporary_number_ = 0;
};

}  // namespace stele::store
