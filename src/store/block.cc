#include "store/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "util/ascii.h"
#include "util/check.h"

namespace stele::store {
namespace {

constexpr std::string_view kMagic = "STELE-BLOCK 1\n";
constexpr std::string_view kSoftware = "Software: ";
constexpr std::size_t kSoftwareWidth = 26;
constexpr std::string_view kCompression = "Compression: ";
constexpr std::string_view kSize = "Size: ";
constexpr std::size_t kSizeWidth = 20;
constexpr std::string_view kReferences = "References: ";

bool IsWord(std::string_view text, std::size_t length_max) {
  return !text.empty() && text.size() <= length_max && text.front() != ' ' && text.back() != ' ' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Takes lines off the front of a header.
class Fields {
 public:
  explicit Fields(std::string_view rest) : rest_(rest) {}

  // The `width` characters behind `name`, which a line feed must follow; nothing when it is not so.
  std::optional<std::string_view> Take(std::string_view name, std::size_t width) {
    const std::size_t length = name.size() + width + 1;
    if (rest_.size() < length || !rest_.starts_with(name) || rest_[length - 1] != '\n') {
      return std::nullopt;
    }
    const std::string_view value = rest_.substr(name.size(), width);
    rest_.remove_prefix(length);
    return value;
  }

 private:
  std::string_view rest_;
};

std::string_view WithoutFill(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string FormatBlockReferences(std::uint64_t references) {
  Check(references <= kBlockReferencesMax);
  return fmt::format("{:0{}}", references, kBlockReferencesDigits);
}

std::string FormatBlockHeader(const BlockHeader& header) {
  Check(IsWord(header.software, kSoftwareWidth));
  Check(IsWord(header.compression, kBlockCompressionLength));
  std::string text =
      fmt::format("{}{}{:<{}}\n{}{:<{}}\n{}{:0{}}\n{}{}\n\n", kMagic, kSoftware, header.software,
                  kSoftwareWidth, kCompression, header.compression, kBlockCompressionLength, kSize,
                  header.size, kSizeWidth, kReferences, FormatBlockReferences(header.references));
  Check(text.size() == kBlockHeaderSize);
  return text;
}

Result<BlockHeader> ParseBlockHeader(std::string_view bytes) {
  const Error bad{ErrorCode::kCorrupt, "this is no block: its header cannot be read"};
  if (bytes.size() < kBlockHeaderSize || !bytes.starts_with(kMagic)) return bad;
  Fields fields(bytes.substr(kMagic.size(), kBlockHeaderSize - kMagic.size()));
  const auto software = fields.Take(kSoftware, kSoftwareWidth);
  const auto compression =
      software ? fields.Take(kCompression, kBlockCompressionLength) : std::nullopt;
  const auto size = compression ? fields.Take(kSize, kSizeWidth) : std::nullopt;
  const auto references = size ? fields.Take(kReferences, kBlockReferencesDigits) : std::nullopt;
  if (!references || !fields.Take("", 0)) return bad;
  BlockHeader header;
  header.software = WithoutFill(*software);
  header.compression = WithoutFill(*compression);
  const std::optional<std::uint64_t> size_value = ParseDecimal(*size);
  const std::optional<std::uint64_t> references_value = ParseDecimal(*references);
  if (!size_value || !references_value || !IsWord(header.software, kSoftwareWidth) ||
      !IsWord(header.compression, kBlockCompressionLength)) {
    return bad;
  }
  header.size = *size_value;
  header.references = *references_value;
  return header;
}

}  // namespace stele::store
