#include <cstdint>
#include <string>
#include <string_view>

#include "formats/html/charset.h"
#include "formats/html/text_decoder.h"
#include "formats/html/utf8.h"
#include "util/check.h"

// The first byte names an encoding and how the rest is cut: decoding gives valid UTF-8 and does not
// depend on the cuts. Choosing an encoding works on any bytes and declares what it chooses from.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::html;
  if (size < 2) return 0;
  const auto encoding = static_cast<Encoding>(data[0] % kEncodingCount);
  const std::size_t step = data[1] % 7 + 1u;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);

  const std::string whole = DecodeText(bytes, encoding);
  Check(IsValidUtf8(whole));
  std::string pieces;
  TextDecoder decoder(encoding);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    decoder.Decode(bytes.substr(at, step), pieces);
  }
  decoder.Finish(pieces);
  Check(pieces == whole);
  if (encoding == Encoding::kUtf8 && IsValidUtf8(bytes)) Check(whole == bytes);

  const EncodingChoice choice = ChooseEncoding(bytes, bytes.substr(0, step * 3));
  Check(choice.bom_size <= bytes.size());
  Check(EncodingForLabel(EncodingName(choice.encoding)) == choice.encoding);
  const auto declared = DeclaredEncoding(bytes, "");
  if (declared) Check(ChooseEncoding(bytes, "").encoding == declared->encoding);
  return 0;
}
