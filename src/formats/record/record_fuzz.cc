// The inputs below the grammars: members and frames that begin as they should and go on as they
// like. A toy grammar keeps the search for records cheap.
#include <cstddef>
#include <cstdint>

#include "codec/gzip_codec.h"
#include "formats/record/fuzz_reading.h"

namespace {

using stele::record::Match;

// "#<length in one byte>" and a block.
class ToyGrammar final : public stele::record::Grammar {
 public:
  stele::record::Format format() const override { return stele::record::Format::kWarc; }
  Match BeginsRecord(std::string_view bytes) const override {
    if (bytes.empty()) return Match::kNeedMore;
    return bytes[0] == '#' ? Match::kYes : Match::kNo;
  }
  std::size_t FindCandidate(std::string_view bytes, std::size_t from) const override {
    return std::min(bytes.find('#', from), bytes.size());
  }
  stele::Result<std::size_t> HeadLength(std::string_view bytes) const override {
    return bytes.size() < 2 ? std::size_t{0} : std::size_t{2};
  }
  stele::Status ParseHead(std::string_view head, stele::record::Record& record,
                          std::vector<stele::record::Defect>& /*defects*/) override {
    const auto length = static_cast<unsigned char>(head[1]);
    if (length == 0xff) return stele::Error{stele::ErrorCode::kCorrupt, "no length"};
    record.content_length = length;
    if (length % 16 == 15) record.block_coding = stele::record::BlockCoding::kDeflate;
    if (length % 16 == 14) record.block_coding = stele::record::BlockCoding::kGzip;
    return {};
  }
  std::size_t SeparatorLength(std::string_view bytes,
                              std::vector<stele::record::Defect>* /*defects*/) const override {
    return bytes.starts_with('\n') ? 1 : 0;
  }
  int confirmations() const override { return 2; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string file;
  switch (data[0] % 5) {
    case 0:
      file = bytes;
      break;
    case 1:
      file = "\x1f\x8b\x08";
      file += bytes;
      break;
    case 2:
      file = "\x28\xb5\x2f\xfd";
      file += bytes;
      break;
    case 3:  // a dictionary frame
      file = "\x5d\x2a\x4d\x18";
      file += bytes;
      break;
    default:  // members that are good, with the bytes in them and between them
      file = *stele::codec::GzipCodec().Compress(bytes.substr(0, bytes.size() / 2), 1);
      file += bytes.substr(bytes.size() / 2, bytes.size() / 4);
      file += *stele::codec::GzipCodec().Compress(bytes.substr(bytes.size() / 2), 1);
      break;
  }
  stele::record::CheckReadings<ToyGrammar>(file);
  return 0;
}
