#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "archive/archive_writer.h"
#include "archive/container_rows.h"
#include "io/stream.h"
#include "util/digest.h"
#include "util/result.h"

namespace stele::archive {

// The captures of some records, with the texts that their rows point to. Places are relative to the
// first byte of the records.
class FoundRows final : public ContainerRowsSink {
 public:
  Status Add(const ContainerCapture& capture) override;
  Status Add(const Companion& companion) override;

  std::vector<ContainerCapture> captures;
  std::vector<Companion> companions;
  ContainerSummary summary;

 private:
  std::vector<std::unique_ptr<std::string>> texts_;
};

// A container that grows at its end: the file with the name OpenPath() has, and the rows beside it.
// Not thread-safe. Borrows `archive` for life.
class GrowingContainer {
 public:
  // Begins one for captures of `batch`, where there is room for `bytes`. `warcinfo` is the text of
  // its first record; the batch and the serial of its first capture are added to it.
  static Result<std::unique_ptr<GrowingContainer>> Begin(
      ArchiveWriter& archive, std::uint32_t run, const std::string& name, std::uint32_t batch,
      const std::string& warcinfo, const std::string& record_id, std::uint64_t bytes);

  std::uint32_t batch() const { return container_.batches.front().batch; }
  std::uint64_t bytes() const { return bytes_; }
  // Its volume has room for so much more, beside what is kept free; the disk is asked now and then.
  Result<bool> HasRoomFor(std::uint64_t bytes);
  bool has_serials_left() const { return captures_ < container_.batches.front().count; }

  // Takes records and what is in them, one capture at least. `found` stays valid until Publish().
  // After an error nothing more is taken.
  Status Append(std::string_view records, FoundRows& found);
  // The same for records that `write` writes, which are too long for memory.
  Status AppendLong(const std::function<Status(io::Sink&)>& write, FoundRows& found);

  // All that was appended is durable and shown. Returns the ids, in the order of Append().
  Result<std::vector<catalog::CaptureId>> Publish();
  // Requires: Publish() after the last Append().
  Status Seal();

 private:
  GrowingContainer(ArchiveWriter& archive, Container container);
  Status Create(const std::string& warcinfo, const std::string& record_id);
  Status Put(std::string_view bytes);
  Status Take(FoundRows& found, std::uint64_t begin);

  class Sink final : public io::Sink {
   public:
    explicit Sink(GrowingContainer& container) : container_(container) {}
    Status Write(std::string_view bytes) override { return container_.Put(bytes); }

   private:
    GrowingContainer& container_;
  };

  ArchiveWriter& archive_;
  Container container_;
  std::string path_;
  std::unique_ptr<io::WritableFile> file_;
  std::unique_ptr<ContainerRowsWriter> rows_;
  Hasher sha256_{DigestAlgorithm::kSha256};
  std::uint64_t bytes_ = 0;
  std::uint64_t room_until_ = 0;  // bytes_, for which there was room
  std::uint32_t captures_ = 0;
  ContainerSummary summary_;
  std::vector<catalog::Capture> unpublished_;
};

}  // namespace stele::archive
