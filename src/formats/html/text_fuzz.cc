#include <cstdint>
#include <string>
#include <string_view>

#include "formats/html/text.h"
#include "formats/html/utf8.h"
#include "util/ascii.h"
#include "util/check.h"

// The first byte names an encoding. The text is valid UTF-8 within its limit, without double
// separators; the runs cover it; anchors lie inside it. Its normal form is normal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::html;
  if (size == 0) return 0;
  const auto encoding = static_cast<Encoding>(data[0] % kEncodingCount);
  const std::string_view html(reinterpret_cast<const char*>(data) + 1, size - 1);
  TextLimits limits;
  if (data[0] >= 128) limits = {.text_bytes_max = 50, .anchors_max = 3, .href_bytes_max = 20};
  const PageText page = ExtractText(html, encoding, limits);
  Check(page.text.size() <= limits.text_bytes_max);
  Check(IsValidUtf8(page.text));
  std::uint32_t end = 0;
  for (const TextRun& run : page.runs) {
    Check(run.begin == end && run.begin < run.end);
    end = run.end;
  }
  Check(end == page.text.size());
  for (std::size_t i = 0; i < page.text.size(); ++i) {
    const bool space = stele::IsAsciiSpace(page.text[i]);
    Check(!space || (i > 0 && i + 1 < page.text.size() && !stele::IsAsciiSpace(page.text[i + 1])));
  }
  Check(page.anchors.size() <= limits.anchors_max);
  for (const TextAnchor& anchor : page.anchors) {
    Check(anchor.begin < anchor.end && anchor.end <= page.text.size());
    Check(!stele::IsAsciiSpace(page.text[anchor.begin]));
  }
  const std::string normal = NormalisedText(page);
  Check(IsValidUtf8(normal));
  PageText again;
  again.text = normal;
  if (!normal.empty()) {
    again.runs.push_back({0, static_cast<std::uint32_t>(normal.size()), kBodyText});
  }
  Check(NormalisedText(again) == normal);
  limits.anchors_max = 0;
  const PageText plainer = ExtractText(html, encoding, limits);
  Check(plainer.anchors.empty() && plainer.text == page.text);
  Check(NormalisedText(plainer) == normal);
  ExtractPlainText(html, encoding, limits);
  return 0;
}
