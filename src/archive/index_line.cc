#include "archive/index_line.h"

#include <fmt/format.h>

#include "util/digest.h"

namespace stele::archive {

cdx::Capture IndexLineOf(const catalog::Capture& row, std::string_view key,
                         const catalog::CapturePlace& place, std::string_view filename) {
  cdx::Capture line;
  line.key = key;
  line.timestamp = FormatDigits14(row.time);
  line.url = row.url;
  if ((row.flags & catalog::kRevisit) != 0) {
    line.mime = "warc/revisit";
  } else {
    line.mime = row.type;
    if (row.status > 0) line.status = fmt::to_string(row.status);
  }
  if (row.sha1) {
    line.digest = Digest(DigestAlgorithm::kSha1, {row.sha1->data(), row.sha1->size()}).Text();
  } else if (row.sha256) {
    line.digest =
        Digest(DigestAlgorithm::kSha256, {row.sha256->data(), row.sha256->size()}).Labelled();
  }
  line.length = fmt::to_string(place.length);
  line.offset = fmt::to_string(place.offset);
  line.filename = filename;
  return line;
}

}  // namespace stele::archive
