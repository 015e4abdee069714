#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive_config.h"
#include "formats/zip/zip_writer.h"
#include "io/file_system.h"
#include "io/stream.h"
#include "util/digest.h"
#include "util/result.h"
#include "util/timestamp.h"

// What WACZ files are put together from. docs/formats/wacz.md.
namespace stele::archive {

// The first line of a list of pages.
inline constexpr std::string_view kWaczPagesHead =
    "{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"All Pages\"}\n";

// Adds a member to a JSON object without its end.
void AppendJsonPair(std::string& object, std::string_view name, std::string_view value);

// A file on the disk that becomes a member: a ZIP file says how large one is before it begins. The
// file goes away with it. Not thread-safe. Borrows `fs` for life.
class WaczSpool final : public io::Sink {
 public:
  static Result<std::unique_ptr<WaczSpool>> Create(io::FileSystem& fs, std::string path);
  ~WaczSpool() override;

  Status Write(std::string_view bytes) override;
  // Afterwards the file can be read.
  Status Close();

  const std::string& path() const { return path_; }
  const zip::ZipWriter::Content& content() const { return content_; }
  // Of all that was written, labelled. Requires: Close() was called.
  const std::string& digest() const { return digest_; }

 private:
  WaczSpool(io::FileSystem& fs, std::string path, std::unique_ptr<io::WritableFile> file)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)) {}

  io::FileSystem& fs_;
  const std::string path_;
  const std::unique_ptr<io::WritableFile> file_;
  Hasher hasher_{DigestAlgorithm::kSha256};
  zip::ZipWriter::Content content_;
  std::string digest_;
};

// The ZIP file, and the list of what is in it. Not thread-safe. Borrows `sink` for life.
class WaczPackage {
 public:
  WaczPackage(io::Sink& sink, Timestamp time) : zip_(sink, {.time = time}), time_(time) {}

  Status Add(std::string_view folder, std::string_view name, std::string_view bytes);
  // Requires: the spool is closed.
  Status Add(std::string_view folder, std::string_view name, io::FileSystem& fs,
             const WaczSpool& spool);
  // CDXJ lines in any order, each with its line end.
  Status AddIndex(std::vector<std::string> lines);
  // Says of the whole what `config` says of the collection, and which program wrote it.
  Status Finish(const ArchiveConfig& config, std::string_view software);

 private:
  void List(std::string_view folder, std::string_view name, std::string_view digest,
            std::uint64_t bytes);

  zip::ZipWriter zip_;
  const Timestamp time_;
  std::string resources_;
};

}  // namespace stele::archive
