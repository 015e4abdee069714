#include "catalog/page_file_format.h"

#include "catalog/page_frame.h"
#include "util/check.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace stele::catalog {
namespace {

constexpr std::string_view kHead = "STELE-PAGES 1 ";
constexpr std::string_view kEnd = "STELE-PAGES END\n";
static_assert(kHead.size() + kPageFileKindMax + 1 == kPageFileHeadSize);
static_assert(8 + 8 + 8 + kEnd.size() == kPageFileTailSize);

}  // namespace

std::string FormatPageFileHead(std::string_view kind) {
  Check(kind.size() <= kPageFileKindMax);
  std::string head(kHead);
  head += kind;
  head.resize(kPageFileHeadSize - 1, ' ');
  return head + '\n';
}

std::string FormatPageFileTail(const PageFileTail& tail, std::uint64_t offset) {
  std::string bytes;
  PutFixed64(bytes, tail.summary_offset);
  PutFixed64(bytes, tail.index_offset);
  PutFixed64(bytes, ChecksumOf(bytes, offset));
  bytes += kEnd;
  return bytes;
}

bool ParsePageFileTail(std::string_view bytes, std::uint64_t offset, PageFileTail& tail) {
  ByteReader reader(bytes);
  tail.summary_offset = reader.Fixed64();
  tail.index_offset = reader.Fixed64();
  return bytes == FormatPageFileTail(tail, offset) && tail.summary_offset >= kPageFileHeadSize &&
         tail.index_offset <= offset && offset - tail.index_offset >= kFrameOverhead &&
         tail.index_offset >= tail.summary_offset &&
         tail.index_offset - tail.summary_offset >= kFrameOverhead;
}

}  // namespace stele::catalog
