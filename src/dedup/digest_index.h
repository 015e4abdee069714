#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catalog/page_cache.h"
#include "catalog/page_file.h"
#include "dedup/document_reader.h"
#include "dedup/equivalent_url.h"
#include "dedup/key_filter.h"
#include "dedup/media_filter.h"
#include "dedup/original_source.h"
#include "io/file_system.h"
#include "util/result.h"

// A digest index: which documents crawls brought, found by URL, by equivalent URL and by digest.
// One immutable file. docs/formats/digest-index.md.
namespace stele::dedup {

struct DigestIndexOptions {
  bool by_url = true;
  bool by_digest = true;
  EquivalentRule equivalent = EquivalentRule::kNone;  // goes with by_url
  bool with_timestamp = true;  // when a document was last seen; else only its original's date
  bool with_etag = false;      // ETag and Last-Modified
  std::string origin = "";     // for documents that have none of their own
  MediaFilter media = {};
  std::uint64_t size_min = 0;
  bool carry_duplicates = true;  // else those that were duplicates are left out
  bool any_status = false;       // else only 200 is indexed
};

// What a file says about itself.
struct DigestIndexSummary {
  bool by_url = false;
  bool by_digest = false;
  EquivalentRule equivalent = EquivalentRule::kNone;
  bool with_etag = false;
  std::uint64_t documents = 0;   // different pairs of URL and digest
  std::uint64_t duplicates = 0;  // of them, those whose payload is that of another capture

  friend bool operator==(const DigestIndexSummary&, const DigestIndexSummary&) = default;
};

// Builds an index in bounded memory. Not thread-safe. Borrows `fs` for life.
class DigestIndexBuilder {
 public:
  // The index appears at `path` when Finish() succeeded; one that is there goes on being used until
  // then. Files beside it, path.N, are used meanwhile.
  DigestIndexBuilder(io::FileSystem& fs, std::string path, DigestIndexOptions options);
  ~DigestIndexBuilder();

  struct Counts {
    std::uint64_t indexed = 0;
    std::uint64_t unresolved = 0;  // duplicates of nobody knows what
    std::uint64_t skipped = 0;     // by options, or without a digest
  };
  // Takes what one crawl brought. Errors: those of reading and writing.
  Status Add(DocumentReader& documents);
  // Takes what an index at `path` has. Errors: kInvalid when it was built by other options.
  Status AddIndex(const std::string& path);
  Result<DigestIndexSummary> Finish();

  const Counts& counts() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Thread-safe. Borrows `cache` for life.
class DigestIndex final : public OriginalSource {
 public:
  // Errors: kNotFound, kCorrupt.
  static Result<std::unique_ptr<DigestIndex>> Open(io::FileSystem& fs, const std::string& path,
                                                   catalog::PageCache& cache);

  // For many look-ups: reads everything once, and remembers in some bits for each document which
  // digests may be here. Does nothing where these would be many. Before any other call. Errors:
  // kCorrupt, kIo.
  Status LoadFilter();

  const DigestIndexSummary& summary() const { return summary_; }
  // Errors: kInvalid, with what to do, when it was not built to be asked so.
  Status CheckFor(bool by_url, bool by_digest) const;

  bool MayHave(const PayloadDigest& digest) const override;
  // Errors of these and of ByDigest(): those of CheckFor().
  Documents ByUrl(std::string_view url) override;
  Documents NewestByUrl(std::string_view url) override;
  // Where it was built by digest only, equivalent URLs are not known.
  Documents NewestWith(std::string_view url, const PayloadDigest& digest,
                       bool or_equivalent) override;
  Documents ByEquivalentUrl(std::string_view url, const PayloadDigest& digest) override;
  Documents ByDigest(const PayloadDigest& digest) override;
  Status TakeHeaders(KnownDocument& document) override;
  Status Complete(KnownDocument& document) override;

 private:
  DigestIndex() = default;
  enum class Keys { kAnyThatBegin, kWhole };
  // All documents, or the first `count_max` of them, whose keys begin so, or are so.
  Documents Find(const std::string& prefix, std::size_t count_max,
                 Keys keys = Keys::kAnyThatBegin) const;
  Error NotBuiltFor(std::string_view what) const;

  std::unique_ptr<catalog::PageFile> file_;
  DigestIndexSummary summary_;
  std::unique_ptr<KeyFilter> filter_;  // null: everything may be here
};

}  // namespace stele::dedup
