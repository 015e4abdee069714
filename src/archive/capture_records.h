#pragma once

#include <string>

#include "archive/run_writer.h"
#include "formats/warc/warc_writer.h"
#include "util/result.h"

namespace stele::archive {

// The ids of a capture's records, "<urn:uuid:...>" each.
struct CaptureRecordIds {
  std::string capture;
  std::string request;
  std::string metadata;
};

// Writes a capture as WARC records: its response or revisit, its request, what the crawler noted.
// `facts` is what ExamineResponse() says about its response. Errors: kInvalid for what no field can
// hold; kIo; those of the writer.
Status WriteCaptureRecords(const CrawledCapture& capture, const ResponseFacts& facts,
                           const CaptureRecordIds& ids, warc::WarcWriter& writer);

}  // namespace stele::archive
