#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/zip/zip_reader.h"
#include "io/file_system.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::archive {

// Which captures a WACZ file calls pages.
class WaczPages {
 public:
  void Add(std::string_view url, Timestamp time);
  bool empty() const { return moments_.empty(); }
  // To the millisecond where both sides say milliseconds, else to the second.
  bool Has(std::string_view url, Timestamp time) const;

 private:
  std::unordered_set<std::uint64_t> moments_;  // hashes of URL and time
  std::unordered_set<std::uint64_t> seconds_;
};

// A page as a list of a WACZ file has it.
struct WaczPage {
  std::string url;  // without fragment
  Timestamp time;
  std::string title;  // empty: none is said
  std::string text;   // what a browser showed; empty: none is said
  std::string line;   // a JSON object that says all that
  std::string list;   // "pages/pages.jsonl"
};

// What a look at all of a WACZ file showed.
struct WaczExamination {
  std::vector<std::string> complaints;  // what it says of itself and is not so
  // The archive files inside that can be read.
  struct Part {
    std::string name;
    std::string sha256;  // in hexadecimal digits
  };
  std::vector<Part> parts;
};

// A WACZ file: a ZIP file that holds archive files as they are, and lists of pages and digests. See
// docs/formats/wacz.md. Thread-safe.
class WaczFile {
 public:
  // Null when it is none: no ZIP file, one that is damaged, or one without archive files. Errors:
  // kInvalid when none of its archive files can be read; kIo.
  static Result<std::unique_ptr<WaczFile>> Open(std::shared_ptr<const io::ReadableFile> file);

  // An archive file inside. One that ZIP compressed has no place where its bytes lie; it is given
  // one behind the end of the file, and behind those of others before it.
  struct Part {
    std::string name;  // "archive/data.warc.gz"
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_readable = false;
    bool is_packed = false;  // compressed by ZIP
  };
  // By their places.
  const std::vector<Part>& parts() const { return parts_; }
  // Requires: is_readable, and not is_packed.
  Result<std::unique_ptr<io::ReadableFile>> OpenPart(const Part& part) const;
  // From begin to end; with a file, unless it is packed. Errors: kCorrupt, also when it is read.
  // Requires: is_readable.
  Result<std::unique_ptr<io::Source>> ReadPart(const Part& part) const;
  // The part with this byte, readable; null when there is none.
  const Part* PartAt(std::uint64_t offset) const;

  // Lists that are damaged are left out. Errors: kIo.
  Result<WaczPages> ReadPages() const;
  // Gives each page of the lists to `take`, up to where a list is damaged. Errors: kIo; those of
  // `take`.
  Status ForEachPage(const std::function<Status(const WaczPage&)>& take) const;

  // Reads all there is and compares it with what the file says of itself. Errors: kIo.
  Result<WaczExamination> Examine() const;

 private:
  struct Resource;
  explicit WaczFile(std::unique_ptr<zip::ZipReader> zip) : zip_(std::move(zip)) {}
  Status FindParts(std::uint64_t file_bytes);
  Status ReadPageList(std::string_view name,
                      const std::function<Status(const WaczPage&)>& take) const;
  std::vector<Resource> ReadResources(std::vector<std::string>& complaints) const;

  std::unique_ptr<zip::ZipReader> zip_;
  std::vector<Part> parts_;
};

// The file at `path`; null when it is none. Errors: those of opening it, too.
Result<std::unique_ptr<WaczFile>> OpenWacz(io::FileSystem& fs, const std::string& path);

}  // namespace stele::archive
