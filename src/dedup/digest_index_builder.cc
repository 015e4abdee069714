// An external merge sort: entries collect in memory, sorted runs go to files beside the index, and
// one merge of all of them, and of the index that is added to, writes the new one. Entries with the
// same key meet there and become one.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dedup/digest_entry.h"
#include "dedup/digest_index.h"
#include "dedup/digest_index_summary.h"

namespace stele::dedup {
namespace {

// Of keys and bodies in memory.
constexpr std::size_t kMemoryBytes = std::size_t{256} << 20;

// One sorted run, read from begin to end.
class RunCursor {
 public:
  explicit RunCursor(std::unique_ptr<catalog::PageFile> file) : file_(std::move(file)) {}

  // False at the end.
  Result<bool> Next() {
    while (!entries_.Next()) {
      if (!entries_.good()) return file_->CorruptPage(next_page_ - 1, "an entry is cut off");
      if (next_page_ == file_->pages()) return false;
      Result<catalog::Page> page = file_->ReadPast(next_page_++);
      if (!page) return page.error();
      page_ = *std::move(page);
      entries_ = EntryCursor(*page_);
    }
    return true;
  }
  std::string_view key() const { return entries_.key(); }
  Result<DigestEntry> entry() const { return ParseEntry(entries_.body()); }

 private:
  std::unique_ptr<catalog::PageFile> file_;
  std::uint32_t next_page_ = 0;
  catalog::Page page_;
  EntryCursor entries_{{}};
};

}  // namespace

class DigestIndexBuilder::Impl {
 public:
  Impl(io::FileSystem& fs, std::string path, DigestIndexOptions options)
      : fs_(fs), path_(std::move(path)), options_(std::move(options)), cache_(1 << 20) {}
  ~Impl() {
    for (const std::string& run : own_runs_) static_cast<void>(fs_.Remove(run));
  }

  Status Add(DocumentReader& documents);
  Status AddIndex(const std::string& path);
  Result<DigestIndexSummary> Finish();

  Counts counts;

 private:
  bool Wants(const CrawledDocument& document) const;
  Status Put(const CrawledDocument& document);
  Status PutEntry(std::string key, const DigestEntry& entry);
  Status Spill();
  Status OpenRuns(std::vector<RunCursor>& runs);
  // The next entry of all runs together; false at the end.
  Result<bool> TakeLeast(std::vector<RunCursor>& runs, std::string& key, DigestEntry& entry);
  Status WriteAll(std::vector<RunCursor>& runs, EntryWriter& writer, DigestIndexSummary& summary);

  io::FileSystem& fs_;
  const std::string path_;
  const DigestIndexOptions options_;
  catalog::PageCache cache_;
  std::map<std::string, DigestEntry> entries_;
  std::size_t memory_ = 0;
  std::vector<std::string> own_runs_;
  std::vector<std::string> other_runs_;
};

bool DigestIndexBuilder::Impl::Wants(const CrawledDocument& document) const {
  // A 304 is in logs as such; in files, revisits say nothing about a status then.
  const bool is_not_modified =
      document.is_duplicate && (document.status == 304 || document.status == 0);
  const bool is_of_unknown_size = document.is_duplicate && document.length == 0;
  const bool is_wanted_status = options_.any_status || document.status == 200 || is_not_modified;
  return is_wanted_status && document.known.digest.sha1 && document.url.size() <= kIndexedUrlMax &&
         document.url.find('\0') == std::string::npos && options_.media.Takes(document.type) &&
         (is_of_unknown_size || document.length >= options_.size_min) &&
         (options_.carry_duplicates || !document.is_duplicate);
}

Status DigestIndexBuilder::Impl::Add(DocumentReader& documents) {
  for (;;) {
    Result<CrawledDocument*> next = documents.Next();
    if (!next) return next.error();
    if (*next == nullptr) break;
    if (!Wants(**next)) {
      ++counts.skipped;
      continue;
    }
    if (const Status put = Put(**next); !put) return put;
    ++counts.indexed;
  }
  counts.skipped += documents.skipped();
  return {};
}

Status DigestIndexBuilder::Impl::Put(const CrawledDocument& document) {
  DigestEntry entry{.known = document.known,
                    .is_duplicate = document.is_duplicate,
                    .is_unresolved = document.is_unresolved};
  KnownDocument& known = entry.known;
  if (known.origin.empty()) known.origin = options_.origin;
  if (!options_.with_etag) {
    known.etag.clear();
    known.last_modified.clear();
  }
  const catalog::Sha1Bytes& sha1 = *known.digest.sha1;
  const std::string& url = document.url;
  Status put;
  if (options_.by_url) put = PutEntry(EntryKey(EntryKind::kUrl, url, sha1, url), entry);
  if (put && options_.by_url && options_.equivalent != EquivalentRule::kNone) {
    put = PutEntry(
        EntryKey(EntryKind::kEquivalent, NormalisedUrl(options_.equivalent, url), sha1, url),
        entry);
  }
  if (put && options_.by_digest) {
    put = PutEntry(EntryKey(EntryKind::kDigest, {sha1.data(), sha1.size()}, sha1, url), entry);
  }
  return put;
}

Status DigestIndexBuilder::Impl::PutEntry(std::string key, const DigestEntry& entry) {
  const auto known = entries_.find(key);
  if (known != entries_.end()) {
    known->second = MergeEntries(std::move(known->second), entry);
    return {};
  }
  memory_ += sizeof(DigestEntry) + 2 * key.size() + entry.known.record_id.size() +
             entry.known.etag.size() + entry.known.origin.size();
  entries_.emplace(std::move(key), entry);
  return memory_ < kMemoryBytes ? Status() : Spill();
}

Status DigestIndexBuilder::Impl::Spill() {
  if (entries_.empty()) return {};
  const std::string run = fmt::format("{}.{}", path_, own_runs_.size());
  Result<std::unique_ptr<EntryWriter>> writer = EntryWriter::Create(fs_, run);
  if (!writer) return writer.error();
  own_runs_.push_back(run);
  for (const auto& [key, entry] : entries_) {
    if (const Status added = (*writer)->Add(key, FormatEntry(entry)); !added) return added;
  }
  entries_.clear();
  memory_ = 0;
  return (*writer)->Finish("");
}

Status DigestIndexBuilder::Impl::AddIndex(const std::string& path) {
  Result<std::unique_ptr<DigestIndex>> index = DigestIndex::Open(fs_, path, cache_);
  if (!index) return index.error();
  const DigestIndexSummary& summary = (*index)->summary();
  if (summary.by_url != options_.by_url || summary.by_digest != options_.by_digest ||
      summary.equivalent != options_.equivalent || summary.with_etag != options_.with_etag) {
    return Error{ErrorCode::kInvalid,
                 path + " was built by other options; give the same, or build it anew"};
  }
  other_runs_.push_back(path);
  return {};
}

Status DigestIndexBuilder::Impl::OpenRuns(std::vector<RunCursor>& runs) {
  for (const std::vector<std::string>* paths : {&own_runs_, &other_runs_}) {
    for (const std::string& path : *paths) {
      auto file = catalog::PageFile::Open(fs_, path, kDigestIndexKind, cache_, kBuildAnew);
      if (!file) return file.error();
      runs.emplace_back(*std::move(file));
      Result<bool> first = runs.back().Next();
      if (!first) return first.error();
      if (!*first) runs.pop_back();
    }
  }
  return {};
}

Result<bool> DigestIndexBuilder::Impl::TakeLeast(std::vector<RunCursor>& runs, std::string& key,
                                                 DigestEntry& entry) {
  if (runs.empty()) return false;
  const auto least = std::min_element(
      runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.key() < b.key(); });
  key = least->key();
  bool is_first = true;
  for (std::size_t i = 0; i < runs.size();) {
    if (runs[i].key() != key) {
      ++i;
      continue;
    }
    Result<DigestEntry> next = runs[i].entry();
    if (!next) return next.error();
    entry = is_first ? *std::move(next) : MergeEntries(std::move(entry), *std::move(next));
    is_first = false;
    Result<bool> more = runs[i].Next();
    if (!more) return more.error();
    if (*more) {
      ++i;
    } else {
      runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return true;
}

Status DigestIndexBuilder::Impl::WriteAll(std::vector<RunCursor>& runs, EntryWriter& writer,
                                          DigestIndexSummary& summary) {
  // Documents are in the index once for each thing they are found by.
  const EntryKind counted = options_.by_url ? EntryKind::kUrl : EntryKind::kDigest;
  std::string key;
  DigestEntry entry;
  for (;;) {
    Result<bool> more = TakeLeast(runs, key, entry);
    if (!more) return more.error();
    if (!*more) return {};
    const bool is_counted = key.front() == static_cast<char>(counted);
    if (entry.is_unresolved) {
      if (is_counted) ++counts.unresolved;
      continue;
    }
    if (!options_.with_timestamp) entry.known.seen = entry.known.time;
    if (is_counted) ++summary.documents;
    if (is_counted && entry.is_duplicate) ++summary.duplicates;
    if (const Status added = writer.Add(key, FormatEntry(entry)); !added) return added;
  }
}

Result<DigestIndexSummary> DigestIndexBuilder::Impl::Finish() {
  if (const Status spilled = Spill(); !spilled) return spilled.error();
  std::vector<RunCursor> runs;
  if (const Status opened = OpenRuns(runs); !opened) return opened.error();
  Result<std::unique_ptr<EntryWriter>> writer = EntryWriter::Create(fs_, path_);
  if (!writer) return writer.error();
  DigestIndexSummary summary;
  summary.by_url = options_.by_url;
  summary.by_digest = options_.by_digest;
  summary.equivalent = options_.equivalent;
  summary.with_etag = options_.with_etag;
  if (const Status written = WriteAll(runs, **writer, summary); !written) return written.error();
  const Status finished = (*writer)->Finish(FormatIndexSummary(summary));
  if (!finished) return finished.error();
  return summary;
}

DigestIndexBuilder::DigestIndexBuilder(io::FileSystem& fs, std::string path,
                                       DigestIndexOptions options)
    : impl_(std::make_unique<Impl>(fs, std::move(path), std::move(options))) {}
DigestIndexBuilder::~DigestIndexBuilder() = default;

Status DigestIndexBuilder::Add(DocumentReader& documents) { return impl_->Add(documents); }
Status DigestIndexBuilder::AddIndex(const std::string& path) { return impl_->AddIndex(path); }
Result<DigestIndexSummary> DigestIndexBuilder::Finish() { return impl_->Finish(); }
const DigestIndexBuilder::Counts& DigestIndexBuilder::counts() const { return impl_->counts; }

}  // namespace stele::dedup
