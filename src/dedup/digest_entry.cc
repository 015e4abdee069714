#include "dedup/digest_entry.h"

#include <algorithm>

#include "util/coding.h"

namespace stele::dedup {
namespace {

// Flags.
constexpr std::uint64_t kHasSha256 = 1 << 0;
constexpr std::uint64_t kIsDuplicate = 1 << 1;
constexpr std::uint64_t kIsUnresolved = 1 << 2;

template <std::size_t kSize>
std::array<char, kSize> TakeBytes(ByteReader& reader) {
  std::array<char, kSize> bytes = {};
  const std::string_view taken = reader.Bytes(kSize);
  std::copy(taken.begin(), taken.end(), bytes.begin());
  return bytes;
}

Error MakesNoSense() {
  return Error{ErrorCode::kCorrupt, "an entry of the digest index makes no sense"};
}

}  // namespace

std::string EntryKeyPrefix(EntryKind kind, std::string_view wanted) {
  std::string key(1, static_cast<char>(kind));
  key += wanted;
  // A digest has a length of its own.
  if (kind != EntryKind::kDigest) key += '\0';
  return key;
}

std::string EntryKey(EntryKind kind, std::string_view wanted, const catalog::Sha1Bytes& sha1,
                     std::string_view url) {
  std::string key = EntryKeyPrefix(kind, wanted);
  if (kind != EntryKind::kDigest) key.append(sha1.data(), sha1.size());
  if (kind != EntryKind::kUrl) key += url;
  return key;
}

std::string FormatEntry(const DigestEntry& entry) {
  const KnownDocument& known = entry.known;
  std::string out;
  PutVarint(out, (known.digest.sha256 ? kHasSha256 : 0) | (entry.is_duplicate ? kIsDuplicate : 0) |
                     (entry.is_unresolved ? kIsUnresolved : 0));
  PutSignedVarint(out, known.time.milliseconds);
  PutSignedVarint(out, known.seen.milliseconds - known.time.milliseconds);
  const catalog::Sha1Bytes sha1 = known.digest.sha1.value_or(catalog::Sha1Bytes{});
  out.append(sha1.data(), sha1.size());
  if (known.digest.sha256) out.append(known.digest.sha256->data(), known.digest.sha256->size());
  for (const std::string* text :
       {&known.url, &known.record_id, &known.etag, &known.last_modified, &known.origin}) {
    PutSized(out, *text);
  }
  return out;
}

Result<std::string_view> ParseEntryDigest(std::string_view bytes) {
  ByteReader reader(bytes);
  reader.Varint();
  reader.SignedVarint();
  reader.SignedVarint();
  const std::string_view digest = reader.Bytes(catalog::Sha1Bytes().size());
  if (!reader.good()) return MakesNoSense();
  return digest;
}

Result<DigestEntry> ParseEntry(std::string_view bytes) {
  ByteReader reader(bytes);
  DigestEntry entry;
  KnownDocument& known = entry.known;
  const std::uint64_t flags = reader.Varint();
  entry.is_duplicate = (flags & kIsDuplicate) != 0;
  entry.is_unresolved = (flags & kIsUnresolved) != 0;
  known.time.milliseconds = reader.SignedVarint();
  // Sums of what a damaged page says must not overflow.
  known.seen.milliseconds =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(known.time.milliseconds) +
                                static_cast<std::uint64_t>(reader.SignedVarint()));
  known.digest.sha1 = TakeBytes<20>(reader);
  if ((flags & kHasSha256) != 0) known.digest.sha256 = TakeBytes<32>(reader);
  for (std::string* text :
       {&known.url, &known.record_id, &known.etag, &known.last_modified, &known.origin}) {
    *text = reader.Sized();
  }
  if (!reader.good() || !reader.AtEnd()) return MakesNoSense();
  return entry;
}

DigestEntry MergeEntries(DigestEntry a, DigestEntry b) {
  const DigestEntry& last = a.known.seen < b.known.seen ? b : a;
  const Timestamp seen = last.known.seen;
  const std::string etag = last.known.etag;
  const std::string last_modified = last.known.last_modified;
  const bool a_is_first =
      a.is_unresolved != b.is_unresolved ? b.is_unresolved : a.known.time <= b.known.time;
  DigestEntry merged = std::move(a_is_first ? a : b);
  merged.known.seen = seen;
  merged.known.etag = etag;
  merged.known.last_modified = last_modified;
  return merged;
}

bool EntryCursor::Next() {
  if (rest_.empty()) return false;
  ByteReader reader(rest_);
  key_ = reader.Sized();
  body_ = reader.Sized();
  good_ = reader.good();
  rest_ = reader.rest();
  return good_;
}

Result<std::unique_ptr<EntryWriter>> EntryWriter::Create(io::FileSystem& fs,
                                                         const std::string& path) {
  auto file = catalog::PageFileWriter::Create(fs, path, kDigestIndexKind);
  if (!file) return file.error();
  return std::unique_ptr<EntryWriter>(new EntryWriter(*std::move(file)));
}

Status EntryWriter::Add(std::string_view key, std::string_view body) {
  if (!page_.empty() && page_.size() + key.size() + body.size() > catalog::kPageBytes) {
    if (const Status finished = FinishPage(); !finished) return finished;
  }
  if (page_.empty()) first_key_ = key;
  PutSized(page_, key);
  PutSized(page_, body);
  return {};
}

Status EntryWriter::FinishPage() {
  if (page_.empty()) return {};
  const Result<std::uint32_t> page = file_->Append({page_}, first_key_);
  page_.clear();
  return page ? Status() : page.error();
}

Status EntryWriter::Finish(std::string_view summary) {
  if (const Status finished = FinishPage(); !finished) return finished;
  return file_->Finish(summary);
}

}  // namespace stele::dedup
