#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/page_file.h"
#include "catalog/page_file_writer.h"
#include "dedup/original_source.h"
#include "util/result.h"

// The entries of a digest index as bytes. docs/formats/digest-index.md.
namespace stele::dedup {

inline constexpr std::string_view kDigestIndexKind = "digests";
inline constexpr std::string_view kBuildAnew = "build it anew with: stele dedup index";
inline constexpr std::uint64_t kDigestIndexVersion = 1;
// Longer URLs are not indexed.
inline constexpr std::size_t kIndexedUrlMax = std::size_t{16} << 10;

// What an entry is found by.
enum class EntryKind : char { kDigest = 'd', kEquivalent = 'e', kUrl = 'u' };

// The keys of entries sort by kind, then by what is looked for, then by the digest, then by the
// URL.
std::string EntryKeyPrefix(EntryKind kind, std::string_view wanted);
std::string EntryKey(EntryKind kind, std::string_view wanted, const catalog::Sha1Bytes& sha1,
                     std::string_view url);

struct DigestEntry {
  KnownDocument known;  // `capture` is not kept
  bool is_duplicate = false;
  bool is_unresolved = false;  // only while an index is built
};

std::string FormatEntry(const DigestEntry& entry);
// Errors: kCorrupt.
Result<DigestEntry> ParseEntry(std::string_view bytes);
// The digest of an entry alone. Errors: kCorrupt.
Result<std::string_view> ParseEntryDigest(std::string_view bytes);

// Makes one of two entries with the same key: the earliest original, as it was last seen.
DigestEntry MergeEntries(DigestEntry a, DigestEntry b);

// Entries of a page, in order. Not thread-safe.
class EntryCursor {
 public:
  explicit EntryCursor(std::string_view page) : rest_(page) {}
  // False at the end of the page, or when it makes no sense: then good() is false.
  bool Next();
  bool good() const { return good_; }
  std::string_view key() const { return key_; }
  std::string_view body() const { return body_; }

 private:
  std::string_view rest_;
  std::string_view key_;
  std::string_view body_;
  bool good_ = true;
};

// Collects entries into pages. Keys come in rising order.
class EntryWriter {
 public:
  static Result<std::unique_ptr<EntryWriter>> Create(io::FileSystem& fs, const std::string& path);
  Status Add(std::string_view key, std::string_view body);
  Status Finish(std::string_view summary);

 private:
  explicit EntryWriter(std::unique_ptr<catalog::PageFileWriter> file) : file_(std::move(file)) {}
  Status FinishPage();

  const std::unique_ptr<catalog::PageFileWriter> file_;
  std::string page_;
  std::string first_key_;
};

}  // namespace stele::dedup
