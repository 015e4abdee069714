#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/capture.h"
#include "catalog/page_cache.h"
#include "catalog/page_file.h"
#include "catalog/page_file_writer.h"
#include "formats/record/record.h"
#include "io/file_system.h"
#include "util/result.h"

// What is in a container, in a file beside it, so that indexes can be made again without reading
// the container. docs/formats/container-rows.md.
namespace stele::archive {

// A capture as its container alone shows it: the serial of its id counts the captures of its batch
// in this container from 0 on, and run and container's number are 0.
struct ContainerCapture {
  catalog::Capture row;
  std::uint64_t record_id = 0;  // RecordIdHash()
};

// A record that belongs to a capture: its request, what the crawler noted about it, or one that
// continues it.
struct Companion {
  record::RecordType type = record::RecordType::kUnknown;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t about = 0;  // RecordIdHash() of the capture that it names; 0: none
  std::uint64_t uri = 0;    // checksum of its target URI

  friend bool operator==(const Companion&, const Companion&) = default;
};

// A number for a record id, with or without <>; 0 for none.
std::uint64_t RecordIdHash(std::string_view record_id);

// RecordIdHash() of the capture that a request, note or continuation names; 0: none.
std::uint64_t NamedCapture(const record::Record& record);

// All that is to be said of a container as a whole.
struct ContainerSummary {
  std::map<std::uint32_t, std::uint32_t> batches;  // captures of each
  std::uint64_t records = 0;                       // of any kind
  std::uint64_t payload_bytes = 0;
  std::uint64_t unlisted = 0;        // captures that no index can have: without a date, say
  std::vector<record::Loss> losses;  // what could not be read, the first kLossesMax of them

  std::uint64_t captures() const;
};
inline constexpr std::size_t kLossesMax = 1000;

// Takes what is found in a container, in its order. Texts of captures are valid during the call.
class ContainerRowsSink {
 public:
  virtual ~ContainerRowsSink() = default;
  virtual Status Add(const ContainerCapture& capture) = 0;
  virtual Status Add(const Companion& companion) = 0;
};

// Not thread-safe. The file has its name, and is durable, when Finish() succeeded.
class ContainerRowsWriter final : public ContainerRowsSink {
 public:
  static Result<std::unique_ptr<ContainerRowsWriter>> Create(io::FileSystem& fs, std::string path);

  Status Add(const ContainerCapture& capture) override;
  Status Add(const Companion& companion) override;
  Status Finish(const ContainerSummary& summary);

 private:
  explicit ContainerRowsWriter(std::unique_ptr<catalog::PageFileWriter> file)
      : file_(std::move(file)) {}
  Status AddEntry(char kind, std::string_view body);

  std::unique_ptr<catalog::PageFileWriter> file_;
  std::string page_;
  std::string body_;
};

// Thread-safe.
class ContainerRows {
 public:
  // Errors: kNotFound, kCorrupt.
  static Result<std::unique_ptr<ContainerRows>> Open(io::FileSystem& fs, std::string path,
                                                     catalog::PageCache& cache);

  const ContainerSummary& summary() const { return summary_; }

  // Tells of all captures in the order of the file, some at a time, which may be changed at will.
  // Texts are valid during the call. Errors: kCorrupt, kIo, and those of `take`, which end it.
  using TakeCaptures = std::function<Status(std::span<ContainerCapture>)>;
  Status ForEachCapture(const TakeCaptures& take) const;
  // All of them, in the order of the file.
  Result<std::vector<Companion>> Companions() const;

 private:
  ContainerRows() = default;
  using TakeEntry = std::function<Status(char kind, std::string_view body)>;
  // Errors: those of `take` as damage of the page.
  Status ForEachEntry(std::string_view page, std::uint32_t number, const TakeEntry& take) const;

  std::unique_ptr<catalog::PageFile> file_;
  ContainerSummary summary_;
};

}  // namespace stele::archive
