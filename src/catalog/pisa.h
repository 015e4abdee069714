#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pisa_forest.h"

namespace stele::catalog {

struct PisaOptions {
  PisaLimits limits = {};              // Valid()
  Timestamp start = kBeginningOfTime;  // it answers for moments from then on
  std::string first_key = {};          // and holds keys from there on
  bool access_lists = true;            // without them CapturesDuring() must not be called
};

// A persistent tree in memory: INSERT of the paper, corrected (docs/pisa.md), and the data
// of its queries; see pisa_forest.h and pisa_cursor.h for those. Segments on disk are built with
// it. Not thread-safe while it grows.
class Pisa final : public PisaForest {
 public:
  explicit Pisa(PisaOptions options);
  ~Pisa() override;

  // What `key` showed when the tree began. Requires: no Insert() yet. Errors: as Insert().
  Status Carry(std::string_view key, Timestamp birth, CaptureId capture);

  // From `time` on `key` shows `capture`; a capture with the same key and the same time is
  // replaced. Errors: kInvalid when the key is too long or before the first one, or when the time
  // is before that of the last Insert().
  Status Insert(std::string_view key, Timestamp time, CaptureId capture);

  // URLTIMESPANQUERY by access lists: what `key` showed between `first` and `last`, both included,
  // ascending, with the blocks of the path, and of the access list only those that have an answer
  // and at most one more. `blocks_read` counts them.
  std::vector<PisaCapture> CapturesDuring(std::string_view key, Timestamp first, Timestamp last,
                                          std::size_t* blocks_read = nullptr) const;

  const std::vector<PisaPart>& parts() const override { return parts_; }
  Result<PisaBlockPointer> Read(PisaBlockNumber number) const override;
  Error Corrupt(PisaBlockNumber number, std::string_view what) const override;

  std::size_t block_count() const { return blocks_.size(); }
  const PisaLimits& limits() const { return options_.limits; }

 private:
  struct AccessBlock;

  Status CheckKey(std::string_view key) const;
  // The live block of this level whose range `key` is in.
  PisaBlockNumber LiveBlock(std::uint32_t level, std::string_view key) const;
  PisaBlockNumber NewBlock(PisaBlock block);
  // Returns the block that holds the version now.
  PisaBlockNumber InsertAt(std::uint32_t level, std::string_view key, Timestamp birth,
                           std::uint64_t value);
  PisaBlockNumber Split(PisaBlockNumber number, std::string_view key, Timestamp birth,
                        std::uint64_t value);
  void SetRoot(PisaBlockNumber number);
  void InsertCapture(std::string_view key, Timestamp birth, CaptureId capture);
  void Remember(PisaBlock& block, std::string_view key, Timestamp birth, CaptureId capture);

  const PisaOptions options_;
  Timestamp now_;
  bool grown_ = false;  // Insert() was called
  std::vector<std::shared_ptr<PisaBlock>> blocks_;
  std::vector<AccessBlock> access_;
  std::vector<PisaPart> parts_;  // one
};

}  // namespace stele::catalog
