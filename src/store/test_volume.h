#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "io/stream.h"
#include "store/tree_volume.h"
#include "store/volume_file.h"

// What the tests of volumes share.
namespace stele::store {

// All contents that begin with the same byte have the same signature.
class WeakSignatures final : public SignatureFunction {
 public:
  std::string_view name() const override { return "weak"; }
  std::size_t size() const override { return 4; }
  Signature Of(std::string_view content) const override {
    return Signature(std::string(3, '\x5a') + (content.empty() ? '\0' : content.front()));
  }
  std::unique_ptr<SignatureStream> NewStream() const override {
    class Stream final : public SignatureStream {
     public:
      void Update(std::string_view bytes) override {
        if (first_.empty()) first_ = bytes.substr(0, 1);
      }
      Signature Finish() override { return WeakSignatures().Of(first_); }

     private:
      std::string first_;
    };
    return std::make_unique<Stream>();
  }
};

inline void PrintTo(VolumeKind kind, std::ostream* out) {
  *out << (kind == VolumeKind::kTree ? "tree" : "container");
}

inline TreeVolume::Options WeakOptions() {
  TreeVolume::Options options;
  options.signature = std::make_shared<WeakSignatures>();
  return options;
}

inline std::unique_ptr<TreeVolume> OpenVolume(io::FileSystem& fs, const std::string& directory,
                                              TreeVolume::Options options) {
  Result<std::unique_ptr<TreeVolume>> volume = TreeVolume::Open(fs, directory, std::move(options));
  EXPECT_TRUE(volume) << volume.error().text;
  return volume ? *std::move(volume) : nullptr;
}

inline std::unique_ptr<TreeVolume> NewVolume(io::FileSystem& fs, TreeVolume::Shape shape,
                                             TreeVolume::Options options) {
  if (shape.name.empty()) shape.name = "v";
  if (options.signature != nullptr) shape.signature = options.signature->name();
  const Status created = TreeVolume::Create(fs, shape.name, shape);
  EXPECT_TRUE(created) << created.error().text;
  return OpenVolume(fs, shape.name, std::move(options));
}

inline StoreRequest RequestFor(const TreeVolume& volume, std::string_view content,
                               const Operation& operation, StoreMode mode = StoreMode::kRegular,
                               std::string media_type = "text/html") {
  return {volume.signature().Of(content), content.size(), mode, std::move(media_type), operation};
}

// Both steps of a store, as clients take them.
inline Result<Stored> Put(TreeVolume& volume, std::string_view content, const Operation& operation,
                          StoreMode mode = StoreMode::kRegular,
                          const std::string& media_type = "text/html") {
  const StoreRequest request = RequestFor(volume, content, operation, mode, media_type);
  const Result<Lookup> found = volume.Reference(request);
  if (!found) return found.error();
  if (found->outcome == Lookup::Outcome::kReferenced) return Stored{*found->key, false};
  io::MemorySource source(content);
  return volume.Store(request, source);
}

inline Result<std::string> ReadAll(Result<std::unique_ptr<io::Source>> source) {
  if (!source) return source.error();
  std::string content;
  std::string room(1000, '\0');
  for (;;) {
    const Result<std::size_t> read = (*source)->Read(room);
    if (!read) return read.error();
    if (*read == 0) return content;
    content.append(room, 0, *read);
  }
}

inline std::string Get(Volume& volume, const ContentKey& key) {
  const Result<std::string> content = ReadAll(volume.Retrieve(key));
  return content ? *content : "failed: " + content.error().text;
}

inline std::uint64_t ReferencesOf(Volume& volume, const ContentKey& key) {
  const Result<BlockInfo> info = volume.Stat(key);
  return info ? info->references : 0;
}

inline std::vector<std::string> Findings(Volume& volume) {
  std::vector<std::string> findings;
  std::uint64_t told = 0;
  const Result<std::uint64_t> blocks = volume.Verify(
      {[&](const Finding& finding) { findings.push_back(finding.where + ": " + finding.text); },
       [&](std::uint64_t so_far) { told = so_far; }});
  if (!blocks) findings.push_back("failed: " + blocks.error().text);
  if (blocks) {
    EXPECT_EQ(told, *blocks);
  }
  return findings;
}

}  // namespace stele::store
