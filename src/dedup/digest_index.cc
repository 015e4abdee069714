#include "dedup/digest_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "dedup/digest_entry.h"
#include "dedup/digest_index_summary.h"

namespace stele::dedup {
namespace {

// A spacer picture may be at a million URLs; any of them will do.
constexpr std::size_t kOfOneDigestMax = 16;
// Of a filter.
constexpr std::size_t kFilterBytesMax = std::size_t{64} << 20;
constexpr std::uint64_t kFilterKeysMax = 50'000'000;

std::string_view Bytes(const catalog::Sha1Bytes& sha1) { return {sha1.data(), sha1.size()}; }

}  // namespace

Error DigestIndex::NotBuiltFor(std::string_view what) const {
  return Error{ErrorCode::kInvalid,
               fmt::format("{} cannot be asked by {}; build it with: stele dedup index --by both",
                           file_->path(), what)};
}

Result<std::unique_ptr<DigestIndex>> DigestIndex::Open(io::FileSystem& fs, const std::string& path,
                                                       catalog::PageCache& cache) {
  auto file = catalog::PageFile::Open(fs, path, kDigestIndexKind, cache, kBuildAnew);
  if (!file) return file.error();
  Result<DigestIndexSummary> summary = ParseIndexSummary((*file)->summary());
  if (!summary) return Error{summary.error().code, path + ": " + summary.error().text};
  std::unique_ptr<DigestIndex> index(new DigestIndex);
  index->file_ = *std::move(file);
  index->summary_ = *summary;
  return index;
}

Status DigestIndex::CheckFor(bool by_url, bool by_digest) const {
  if (by_url && !summary_.by_url) return NotBuiltFor("URL");
  if (by_digest && !summary_.by_digest) return NotBuiltFor("digest");
  return {};
}

OriginalSource::Documents DigestIndex::Find(const std::string& prefix, std::size_t count_max,
                                            Keys keys) const {
  std::vector<KnownDocument> documents;
  std::uint32_t number = file_->index().LastAtOrBefore(prefix).value_or(0);
  for (; number < file_->pages() && documents.size() < count_max; ++number) {
    Result<catalog::Page> page = file_->Read(number);
    if (!page) return page.error();
    EntryCursor entries(**page);
    bool behind = false;
    while (!behind && documents.size() < count_max && entries.Next()) {
      if (entries.key() < prefix) continue;
      behind = !entries.key().starts_with(prefix) ||
               (keys == Keys::kWhole && entries.key().size() != prefix.size());
      if (behind) break;
      Result<DigestEntry> entry = ParseEntry(entries.body());
      if (!entry) return file_->CorruptPage(number, entry.error().text);
      documents.push_back(std::move(entry->known));
    }
    if (!entries.good()) return file_->CorruptPage(number, "an entry is cut off");
    if (behind) break;
  }
  std::stable_sort(documents.begin(), documents.end(),
                   [](const auto& a, const auto& b) { return a.seen > b.seen; });
  return documents;
}

Status DigestIndex::LoadFilter() {
  if (summary_.documents > kFilterKeysMax) return {};
  auto filter = std::make_unique<KeyFilter>(summary_.documents, kFilterBytesMax);
  // Where documents are found by digest, too, those entries come first and have them all.
  const std::string wanted = summary_.by_digest ? EntryKeyPrefix(EntryKind::kDigest, "") : "";
  bool behind = false;
  for (std::uint32_t number = 0; number < file_->pages(); ++number) {
    if (behind) {
      if (const Status checked = file_->CheckPage(number); !checked) return checked;
      continue;
    }
    const Result<catalog::Page> page = file_->ReadPast(number);
    if (!page) return page.error();
    EntryCursor entries(**page);
    while (entries.Next()) {
      behind = !entries.key().starts_with(wanted);
      if (behind) break;
      const Result<std::string_view> digest = ParseEntryDigest(entries.body());
      if (!digest) return file_->CorruptPage(number, digest.error().text);
      filter->Add(*digest);
    }
    if (!entries.good()) return file_->CorruptPage(number, "an entry is cut off");
  }
  filter_ = std::move(filter);
  return {};
}

bool DigestIndex::MayHave(const PayloadDigest& digest) const {
  return digest.sha1 && (filter_ == nullptr || filter_->MayHave(Bytes(*digest.sha1)));
}

OriginalSource::Documents DigestIndex::ByUrl(std::string_view url) {
  if (!summary_.by_url) return NotBuiltFor("URL");
  return Find(EntryKeyPrefix(EntryKind::kUrl, url), static_cast<std::size_t>(-1));
}

OriginalSource::Documents DigestIndex::NewestByUrl(std::string_view url) {
  Documents documents = ByUrl(url);
  if (documents && documents->size() > 1) documents->resize(1);
  return documents;
}

OriginalSource::Documents DigestIndex::NewestWith(std::string_view url, const PayloadDigest& digest,
                                                  bool or_equivalent) {
  if (!MayHave(digest)) return std::vector<KnownDocument>();
  // Both kinds of entries have the URL and the digest in their keys.
  Documents documents =
      Find(summary_.by_url ? EntryKey(EntryKind::kUrl, url, *digest.sha1, url)
                           : EntryKey(EntryKind::kDigest, Bytes(*digest.sha1), *digest.sha1, url),
           1, Keys::kWhole);
  if (!documents) return documents;
  std::erase_if(*documents, [&](const auto& found) { return !found.digest.SameAs(digest); });
  if (!or_equivalent || !documents->empty()) return documents;
  documents = ByEquivalentUrl(url, digest);
  if (documents && documents->size() > 1) documents->resize(1);
  if (documents && !documents->empty()) documents->front().is_equivalent = true;
  return documents;
}

OriginalSource::Documents DigestIndex::ByEquivalentUrl(std::string_view url,
                                                       const PayloadDigest& digest) {
  if (summary_.equivalent == EquivalentRule::kNone || !MayHave(digest)) {
    return std::vector<KnownDocument>();
  }
  const std::string prefix =
      EntryKeyPrefix(EntryKind::kEquivalent, NormalisedUrl(summary_.equivalent, url)) +
      std::string(Bytes(*digest.sha1));
  return Find(prefix, kOfOneDigestMax);
}

OriginalSource::Documents DigestIndex::ByDigest(const PayloadDigest& digest) {
  if (!summary_.by_digest) return NotBuiltFor("digest");
  if (!MayHave(digest)) return std::vector<KnownDocument>();
  return Find(EntryKeyPrefix(EntryKind::kDigest, Bytes(*digest.sha1)), kOfOneDigestMax);
}

// Entries have all that there is.
Status DigestIndex::TakeHeaders(KnownDocument&) { return {}; }
Status DigestIndex::Complete(KnownDocument&) { return {}; }

}  // namespace stele::dedup
