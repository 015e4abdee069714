#include "io/stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "io/memory_file_system.h"

namespace stele::io {
namespace {

std::string ReadAll(Source& source) {
  std::string all;
  std::array<char, 3> part;
  for (;;) {
    const Result<std::size_t> n = source.Read(part);
    EXPECT_TRUE(n.ok());
    if (!n || *n == 0) return all;
    all.append(part.data(), *n);
  }
}

TEST(Stream, MemoryAndFilesGiveTheirBytesInOrder) {
  MemorySource memory("abcdefgh");
  EXPECT_EQ(ReadAll(memory), "abcdefgh");
  MemoryFileSystem fs;
  ASSERT_TRUE(ReplaceFile(fs, "f", "12345678"));
  FileSource file(*fs.OpenForReading("f"));
  EXPECT_EQ(ReadAll(file), "12345678");
  EXPECT_NE(file.file(), nullptr);
}

TEST(Stream, APipeCarriesBytesAndHasNoPositions) {
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe(ends.data()), 0);
  DescriptorSink sink(ends[1]);
  ASSERT_TRUE(sink.Write("through the pipe"));
  ::close(ends[1]);
  DescriptorSource source(ends[0]);
  EXPECT_EQ(source.file(), nullptr);
  EXPECT_EQ(ReadAll(source), "through the pipe");
  ::close(ends[0]);
}

TEST(Stream, AClosedDescriptorIsAnError) {
  DescriptorSource source(-1);
  std::array<char, 1> byte;
  EXPECT_EQ(source.Read(byte).error().code, ErrorCode::kIo);
  DescriptorSink sink(-1);
  EXPECT_EQ(sink.Write("x").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace stele::io
