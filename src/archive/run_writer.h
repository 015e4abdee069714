#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/archive_writer.h"
#include "archive/wire_message.h"
#include "catalog/capture_id.h"
#include "formats/warc/revisit.h"
#include "formats/warc/truncation.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::archive {

// Which capture has the payload of a revisit. It is a capture with a payload of its own, and it is
// durable.
struct RevisitOriginal {
  // kIdenticalPayload: the payload was fetched, and has the same digest. kServerNotModified: the
  // server said so, or its headers did, and there was no payload.
  warc::RevisitProfile profile = warc::RevisitProfile::kIdenticalPayload;
  std::string url;
  Timestamp time;
  std::string record_id;                   // "<urn:uuid:...>"; empty: not known
  std::optional<catalog::Sha1Bytes> sha1;  // of its payload, when it was not fetched again
};

// One fetch that is to be kept. Secrets are out of it by now.
struct CrawledCapture {
  std::string url;  // absolute
  Timestamp time;   // when the fetch began
  std::string ip_address;
  WireMessage request;  // empty: is not kept
  // As it came; of a revisit only the head is written, and of a 304 not even that.
  WireMessage response;
  // What ExamineResponse() says about it, from whoever asked before.
  std::optional<ResponseFacts> facts;
  warc::Truncation truncated = warc::Truncation::kNone;
  std::optional<RevisitOriginal> revisit;
  // For the response's record: "http/1.1", "tls/1.3"; and "TLS_AES_128_GCM_SHA256".
  std::vector<std::string> protocols;
  std::string cipher_suite;
  // The block of its `metadata` record, in this order; names as Heritrix has them: via,
  // hopsFromSeed, fetchTimeMs, outlink ("URL HOP CONTEXT"), seed (no value). Empty: no such record.
  // hopsFromSeed says whether the capture is a page, so it belongs there for every embed.
  std::vector<std::pair<std::string, std::string>> metadata;
  bool hurried = false;  // others wait: it is compressed fast rather than small
};

struct RunWriterOptions {
  std::string job = "stele";       // names of files begin with it
  std::string host = "localhost";  // and end with this one, which wrote them
  // Lines of each warcinfo beside our own: "operator", "http-header-user-agent", "robots".
  std::vector<std::pair<std::string, std::string>> warcinfo = {};
  std::uint64_t container_bytes = std::uint64_t{1} << 30;     // sealed when it has so many
  std::uint64_t waiting_bytes_max = std::uint64_t{64} << 20;  // Append() waits above it
  // What comes so soon after the first one is synced with it; 0: what comes during a sync alone.
  std::chrono::milliseconds gather{0};
};

// The crawler's way into an archive: writes what a run captures, as WARC 1.1, into containers that
// grow until they are sealed. A thread of its own writes and syncs, many captures at a time. When a
// capture is acknowledged, its container is synced, the catalog has its row, and readers in all
// processes see it when they look again. What a crash leaves of an open container is sealed by
// ArchiveWriter::Open(): all that was acknowledged is there, with the same ids.
// Thread-safe, but for Finish(). Borrows `archive` for life.
class RunWriter {
 public:
  // `run` was begun and goes on.
  RunWriter(ArchiveWriter& archive, std::uint32_t run, RunWriterOptions options);
  // Waits until what was appended is written. What it wrote is sealed when the archive is opened
  // the next time, unless Finish() did.
  ~RunWriter();

  // Told when a capture is durable, or that it is not. Called in the order of Append(), by the
  // thread that writes; must not call back.
  using Acknowledge = std::function<void(const Result<catalog::CaptureId>& id)>;

  // Compresses and digests here, writes later. Waits while too much waits to be written. Errors:
  // kInvalid for a URL with a line end in it, say; kIo when a message cannot be read. `acknowledge`
  // is told of everything else: kFull, kIo; nothing more is taken then.
  Status Append(const CrawledCapture& capture, Acknowledge acknowledge);
  // The same, and waits until it is durable.
  Result<catalog::CaptureId> AppendAndWait(const CrawledCapture& capture);

  // Returns when all that was appended before is acknowledged. Errors: why no more is taken.
  Status Flush();

  // Seals what is open. Nothing can be appended then. The run itself goes on until
  // ArchiveWriter::EndRun().
  Status Finish();

  struct Totals {
    std::uint64_t captures = 0;  // acknowledged
    std::uint64_t revisits = 0;  // of them
    std::uint64_t bytes = 0;     // of containers, as written
    std::uint64_t syncs = 0;
  };
  Totals totals() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace stele::archive
