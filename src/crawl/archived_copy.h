#pragma once

#include <string>

#include "archive/archive_view.h"
#include "catalog/capture.h"
#include "catalog/capture_id.h"
#include "formats/warc/truncation.h"
#include "util/result.h"

namespace stele::crawl {

// A response that an archive has: its head as it came, and the payload without transfer coding.
struct ArchivedCopy {
  std::string head;
  std::string payload;  // of a longer one the first bytes
  warc::Truncation truncation = warc::Truncation::kNone;
};

// Errors: kNotFound, kIo, kCorrupt.
Result<ArchivedCopy> ReadArchivedCopy(const archive::ArchiveView& view,
                                      const catalog::CaptureId& capture,
                                      std::size_t payload_bytes_max);

// Why a browser would have refused the certificate that a capture of a crawl came with, as its
// metadata record says; empty: it would not. Errors: kNotFound, kIo, kCorrupt.
Result<std::string> ReadDistrust(const archive::ArchiveView& view, const catalog::Capture& capture);

}  // namespace stele::crawl
