#include "formats/record/byte_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace stele::record {
namespace {

// What a file of the tests holds from `offset` on: each byte is its place, modulo 251.
std::string_view BytesAt(std::uint64_t offset, std::size_t count) {
  static const std::string pattern = [] {
    std::string bytes(251 + ByteWindow::kBytes, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 251);
    return bytes;
  }();
  return std::string_view(pattern).substr(offset % 251, count);
}

// A file that counts what is read of it.
class CountingFile final : public io::ReadableFile {
 public:
  CountingFile(std::uint64_t size, std::uint64_t& read) : size_(size), read_(read) {}
  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    if (offset >= size_) return std::size_t{0};
    const std::size_t count = std::min<std::uint64_t>(out.size(), size_ - offset);
    EXPECT_EQ(BytesAt(offset, count).copy(out.data(), count), count);
    read_ += count;
    return count;
  }
  Result<std::uint64_t> Size() const override { return size_; }

 private:
  const std::uint64_t size_;
  std::uint64_t& read_;
};

struct Lab {
  explicit Lab(std::uint64_t size) : source(std::make_unique<CountingFile>(size, read)) {}

  // Looks, and checks what is seen.
  void Look(std::uint64_t offset, std::size_t want, std::size_t at_least) {
    const Result<std::string_view> seen = window.At(offset, want);
    ASSERT_TRUE(seen);
    ASSERT_GE(seen->size(), at_least);
    ASSERT_TRUE(seen->substr(0, at_least) == BytesAt(offset, at_least)) << offset;
  }

  std::uint64_t read = 0;
  io::FileSource source;
  ByteWindow window{source};
};

constexpr std::uint64_t kFile = 20 << 20;

TEST(ByteWindow, LittleIsReadAtANewPlace) {
  Lab lab(kFile);
  lab.Look(0, 100, 100);
  lab.Look(10 << 20, 30'000, 30'000);
  lab.Look(5 << 20, 30'000, 30'000);
  EXPECT_EQ(lab.read, 3 * ByteWindow::kFirstBytes);
}

TEST(ByteWindow, AsMuchAsIsExpectedIsReadAtANewPlace) {
  Lab lab(kFile);
  lab.Look(0, 100, 100);
  lab.read = 0;
  lab.window.Expect(5000);
  lab.Look(10 << 20, 5000, 5000);
  EXPECT_EQ(lab.read, 5000);
  // What is wanted beyond that comes, too, and it is forgotten at the next place.
  lab.Look((10 << 20) + 4000, 2000, 2000);
  EXPECT_EQ(lab.read, 5000 + ByteWindow::kFirstBytes);
  lab.Look(5 << 20, 100, 100);
  EXPECT_EQ(lab.read, 5000 + 2 * ByteWindow::kFirstBytes);
}

TEST(ByteWindow, AFileThatIsReadInOrderIsReadOnceInLargePieces) {
  Lab lab(kFile);
  constexpr std::size_t kStep = 50'000;
  for (std::uint64_t at = 0; at < kFile; at += kStep) {
    lab.window.Pin(at);
    lab.Look(at, 256 << 10, std::min<std::uint64_t>(256 << 10, kFile - at));
  }
  EXPECT_EQ(lab.read, kFile);
}

TEST(ByteWindow, AsMuchAsIsWantedComesFromAnywhere) {
  Lab lab(kFile);
  for (const std::uint64_t at : {std::uint64_t{3}, kFile - 10, std::uint64_t{7 << 20}, kFile / 2}) {
    lab.Look(at, ByteWindow::kBytes, std::min<std::uint64_t>(ByteWindow::kBytes, kFile - at));
  }
  lab.Look(kFile, 10, 0);
  lab.Look(kFile + 100, 10, 0);
}

}  // namespace
}  // namespace stele::record
