#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/memory_file_system.h"
#include "store/container_volume.h"

// What the tests of the container volume share.
namespace stele::store {

// Signatures of one byte with two values, so that contents collide at will.
class ParitySignatures final : public SignatureFunction {
 public:
  std::string_view name() const override { return "parity"; }
  std::size_t size() const override { return 1; }
  std::unique_ptr<SignatureStream> NewStream() const override { return std::make_unique<Stream>(); }
  Signature Of(std::string_view content) const override {
    Stream stream;
    stream.Update(content);
    return stream.Finish();
  }

 private:
  class Stream final : public SignatureStream {
   public:
    void Update(std::string_view bytes) override {
      for (const char c : bytes) sum_ += static_cast<unsigned char>(c);
    }
    Signature Finish() override { return Signature(std::string(1, static_cast<char>(sum_ % 2))); }

   private:
    unsigned sum_ = 0;
  };
};

// Lets a table outlive the volume that owns this.
class BorrowedTable final : public BlockTable {
 public:
  explicit BorrowedTable(BlockTable& table) : table_(table) {}
  Result<std::optional<std::string>> Get(const std::string& key) const override {
    return table_.Get(key);
  }
  Status Write(const Changes& changes) override { return table_.Write(changes); }
  Status ScanAfter(const std::string& prefix, const std::string& after,
                   const Visit& visit) const override {
    return table_.ScanAfter(prefix, after, visit);
  }
  Status Flush() override { return table_.Flush(); }
  Status Clear() override { return table_.Clear(); }

 private:
  BlockTable& table_;
};

// A volume on a disk in memory.
struct ContainerLab {
  io::MemoryFileSystem disk;
  io::ManualClock clock{Timestamp{1'700'000'000'000}};
  io::SeededRandom random{1};
  MemoryBlockTable table;
  ContainerVolume::Shape shape{"tomba", "sha256", 0};
  ContainerVolume::Options options;

  Result<std::unique_ptr<ContainerVolume>> Open(io::FileSystem& fs) {
    return ContainerVolume::Open({fs, clock, random}, "v", std::make_unique<BorrowedTable>(table),
                                 options);
  }
  std::unique_ptr<ContainerVolume> Open() {
    Result<std::unique_ptr<ContainerVolume>> volume = Open(disk);
    EXPECT_TRUE(volume) << volume.error().text;
    return volume ? *std::move(volume) : nullptr;
  }
  std::unique_ptr<ContainerVolume> Make() {
    EXPECT_TRUE(ContainerVolume::Create(disk, "v", shape));
    return Open();
  }
  std::vector<std::string> Containers() { return *disk.List("v/containers"); }
};

inline StoreRequest RequestFor(const SignatureFunction& function, std::string_view content,
                               std::string_view operation, StoreMode mode = StoreMode::kRegular,
                               std::string_view owner = "me") {
  return {function.Of(content),
          content.size(),
          mode,
          "text/html",
          {std::string(owner), std::string(operation)}};
}

inline Result<Stored> StoreContent(ContainerVolume& volume, std::string_view content,
                                   std::string_view operation, StoreMode mode = StoreMode::kRegular,
                                   std::string_view owner = "me") {
  io::MemorySource source(content);
  return volume.Store(RequestFor(volume.signature(), content, operation, mode, owner), source);
}

inline Result<std::string> ReadContent(ContainerVolume& volume, const ContentKey& key) {
  const Result<std::unique_ptr<io::Source>> source = volume.Retrieve(key);
  if (!source) return source.error();
  std::string content;
  std::string piece(1000, '\0');
  for (;;) {
    const Result<std::size_t> read = (*source)->Read(piece);
    if (!read) return read.error();
    if (*read == 0) return content;
    content.append(piece, 0, *read);
  }
}

inline std::vector<Finding> FindingsOf(ContainerVolume& volume) {
  std::vector<Finding> findings;
  EXPECT_TRUE(volume.Verify({[&](const Finding& finding) { findings.push_back(finding); }}));
  return findings;
}

// Bytes that do not shrink, the same for the same seed.
inline std::string NoiseOf(std::size_t size, std::uint64_t seed) {
  io::SeededRandom random(seed);
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t eight = random.Next();
    std::memcpy(bytes.data() + at, &eight, std::min(sizeof eight, size - at));
  }
  return bytes;
}

}  // namespace stele::store
