#include "cli/capture_line.h"

#include <fmt/format.h>

#include "cli/visible_text.h"
#include "util/digest.h"
#include "util/json.h"

namespace stele::cli {
namespace {

using catalog::Capture;

bool Has(const Capture& row, catalog::CaptureFlag flag) { return (row.flags & flag) != 0; }

template <std::size_t kSize>
std::string_view View(const std::array<char, kSize>& bytes) {
  return {bytes.data(), bytes.size()};
}

void AppendText(std::string& out, std::string_view name, std::string_view value) {
  out += fmt::format(", \"{}\": ", name);
  AppendJsonString(out, value);
}

}  // namespace

std::string CaptureText(const Capture& row) {
  std::string marks;
  if (Has(row, catalog::kRevisit)) marks += '=';
  if (Has(row, catalog::kTruncated)) marks += '<';
  if (Has(row, catalog::kRemoved)) marks += 'x';
  return fmt::format("{} {:>3} {:<1} {:<24} {:>10} {}", FormatDigits14(row.time),
                     row.status == 0 ? "-" : fmt::to_string(row.status), marks,
                     row.type.empty() ? "-" : VisibleText(row.type), row.length,
                     VisibleText(row.url));
}

std::string CaptureJson(const Capture& row, std::string_view key) {
  std::string out = fmt::format("{{\"id\": \"{}/{}\", \"time\": \"{}\"", row.id.batch,
                                row.id.serial, FormatIsoMillis(row.time));
  AppendText(out, "url", row.url);
  AppendText(out, "key", key);
  out += fmt::format(", \"status\": {}", row.status);
  AppendText(out, "mime", row.type);
  out += fmt::format(", \"length\": {}", row.length);
  if (row.sha1) {
    AppendText(out, "sha1", Digest(DigestAlgorithm::kSha1, View(*row.sha1)).Text());
  }
  if (row.sha256) {
    AppendText(out, "sha256", Digest(DigestAlgorithm::kSha256, View(*row.sha256)).Text());
  }
  if (row.text_digest != 0) out += fmt::format(", \"text\": \"{:016x}\"", row.text_digest);
  out += fmt::format(
      ", \"page\": {}, \"revisit\": {}, \"redirect\": {}, \"truncated\": {}, \"removed\": {}, "
      "\"run\": {}, \"container\": {}, \"offset\": {}, \"record_length\": {}}}",
      Has(row, catalog::kPage), Has(row, catalog::kRevisit), Has(row, catalog::kRedirect),
      Has(row, catalog::kTruncated), Has(row, catalog::kRemoved), row.run, row.place.container,
      row.place.offset, row.place.length);
  return out;
}

}  // namespace stele::cli
