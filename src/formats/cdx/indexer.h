#pragma once

#include <functional>
#include <optional>
#include <string>

#include "formats/cdx/capture.h"
#include "formats/cdx/capture_rules.h"
#include "formats/record/payload.h"
#include "formats/record/record_reader.h"
#include "util/digest.h"
#include "util/result.h"

namespace stele::cdx {

struct IndexerOptions {
  std::string filename;      // what the lines name as their file
  bool all_records = false;  // also warcinfo, request and metadata in application/warc-fields
};

// Makes the index lines of an archive file as the Wayback tools do: one for each response, revisit,
// resource and metadata record, with the payload digest from the head, or computed where the head
// has none. A request that is no GET and stands beside its response gives its method and body to
// the response's key. Not thread-safe. Borrows `reader`.
class Indexer {
 public:
  Indexer(record::RecordReader& reader, IndexerOptions options);

  // The next capture in file order; nothing at the end. Errors: kIo.
  Result<std::optional<Capture>> Next();

 private:
  bool IsIndexed(const record::Record& record) const;
  Result<std::optional<Capture>> ReadCapture(const record::Record& record);
  Result<std::optional<CaptureRequest>> ReadRequest(const record::Record& record);
  void FillFromBlock(const record::Record& record, Capture& capture);

  record::RecordReader& reader_;
  IndexerOptions options_;
  record::PayloadStream payload_;
  Hasher hasher_{DigestAlgorithm::kSha1};
  std::optional<Capture> waiting_;         // its request may follow
  std::optional<CaptureRequest> request_;  // its response may follow
  bool ended_ = false;
};

}  // namespace stele::cdx
