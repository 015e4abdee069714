#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "catalog/pisa_segment_writer.h"
#include "catalog/pisa_twin.h"

// For tests: persistent trees that are small, and what is in them.
namespace stele::catalog {

inline constexpr PisaLimits kSmallPisa{480, 12};

inline std::vector<PisaCapture> ReadAll(const PisaForest& forest, const PisaSelection& selection) {
  PisaCursor cursor(forest, selection);
  std::vector<PisaCapture> found;
  for (;;) {
    const Result<bool> more = cursor.Next();
    EXPECT_TRUE(more.ok()) << more.error().text;
    if (!more || !*more) return found;
    found.push_back({std::string(cursor.key()), cursor.birth(), cursor.death(), cursor.capture()});
  }
}

// Counts what is read from another forest.
class CountingForest final : public PisaForest {
 public:
  explicit CountingForest(const PisaForest& base) : base_(base) {}
  const std::vector<PisaPart>& parts() const override { return base_.parts(); }
  Result<PisaBlockPointer> Read(PisaBlockNumber number) const override {
    ++reads;
    return base_.Read(number);
  }
  Error Corrupt(PisaBlockNumber number, std::string_view what) const override {
    return base_.Corrupt(number, what);
  }

  mutable std::size_t reads = 0;

 private:
  const PisaForest& base_;
};

// As sorted runs have them. Of captures with the same key and time the last one stays the last.
inline std::vector<PisaCapture> ByKey(std::vector<PisaCapture> captures) {
  std::stable_sort(captures.begin(), captures.end(),
                   [](const PisaCapture& a, const PisaCapture& b) {
                     return std::pair(a.key, a.birth) < std::pair(b.key, b.birth);
                   });
  return captures;
}

// Of captures by key those that are early enough.
inline Status WriteSegment(io::FileSystem& fs, const std::string& path,
                           const PisaSegmentOptions& options,
                           const std::vector<PisaCapture>& captures) {
  Result<std::unique_ptr<PisaSegmentWriter>> writer = PisaSegmentWriter::Create(fs, path, options);
  if (!writer) return writer.error();
  for (const PisaCapture& one : captures) {
    if (one.birth >= options.end) continue;
    if (Status status = (*writer)->Add(one.key, one.birth, one.capture); !status) return status;
  }
  return (*writer)->Finish();
}

inline PisaTwin TwinOf(const std::vector<PisaCapture>& captures) {
  PisaTwin twin;
  for (const PisaCapture& one : captures) twin.Insert(one.key, one.birth, one.capture);
  return twin;
}

}  // namespace stele::catalog
