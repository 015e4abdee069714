#include "archive/wacz_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "formats/warc/old_fields.h"
#include "util/checksum.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

using nlohmann::json;

constexpr std::string_view kPackage = "datapackage.json";
constexpr std::string_view kPackageDigest = "datapackage-digest.json";
constexpr std::array<std::string_view, 2> kPageLists = {"pages/pages.jsonl",
                                                        "pages/extraPages.jsonl"};
constexpr std::size_t kPackageBytesMax = std::size_t{64} << 20;
// A page's line may carry its text. Longer ones are passed over.
constexpr std::size_t kPageLineBytesMax = std::size_t{8} << 20;
constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr std::int64_t kSecond = 1000;
// Places end here, whatever a ZIP file says of the sizes of its members.
constexpr std::uint64_t kPlaceMax = std::uint64_t{1} << 60;

bool IsArchiveFile(std::string_view name) {
  if (!name.starts_with("archive/")) return false;
  constexpr std::array<std::string_view, 5> kEnds = {".warc.gz", ".warc", ".warc.zst", ".arc.gz",
                                                     ".arc"};
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

std::uint64_t MomentHash(std::string_view url, std::int64_t milliseconds) {
  // Writers differ in whether they leave spaces in a URL.
  return ChecksumOf(fmt::format("{} {}", milliseconds, warc::FieldUri(url)));
}

std::int64_t SecondOf(Timestamp time) {
  const std::int64_t past = time.milliseconds % kSecond;
  return time.milliseconds - (past < 0 ? past + kSecond : past);
}

// The text of a member of an object; empty when there is none.
std::string TextOf(const json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string_view WithoutFragment(std::string_view url) { return url.substr(0, url.find('#')); }

// Nothing for a line that is none.
std::optional<WaczPage> ParsePage(std::string_view line) {
  const json page = json::parse(line, nullptr, /*allow_exceptions=*/false);
  const std::string url = TextOf(page, "url");
  const std::optional<Timestamp> time = ParseIso(TextOf(page, "ts"));
  if (url.empty() || !time) return std::nullopt;
  return WaczPage{.url = std::string(WithoutFragment(url)),
                  .time = *time,
                  .title = TextOf(page, "title"),
                  .text = TextOf(page, "text"),
                  .line = std::string(line),
                  .list = {}};
}

// Gives each line of a source to `take`; those that are too long are passed over.
Status ForEachLine(io::Source& source, const std::function<Status(std::string_view)>& take) {
  std::string line;
  bool too_long = false;
  std::string buffer(kReadBytes, '\0');
  for (;;) {
    const Result<std::size_t> read = source.Read(buffer);
    if (!read) return read.error();
    if (*read == 0) break;
    std::string_view rest = std::string_view(buffer).substr(0, *read);
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
      line += rest.substr(0, end);
      const Status taken = too_long ? Status() : take(line);
      if (!taken) return taken;
      line.clear();
      too_long = false;
      rest.remove_prefix(end + 1);
    }
    line += rest;
    if (line.size() > kPageLineBytesMax) {
      line.clear();
      too_long = true;
    }
  }
  return too_long || line.empty() ? Status() : take(line);
}

// The digest of a member, which is read to its end. Errors: those of reading it.
Result<Digest> DigestOfContent(const zip::ZipReader& zip, const zip::Entry& entry,
                               DigestAlgorithm algorithm) {
  Result<std::unique_ptr<io::Source>> source = zip.OpenContent(entry);
  if (!source) return source.error();
  Hasher hasher(algorithm);
  std::string buffer(kReadBytes, '\0');
  for (;;) {
    const Result<std::size_t> read = (*source)->Read(buffer);
    if (!read) return read.error();
    if (*read == 0) return hasher.Finish();
    hasher.Update(std::string_view(buffer).substr(0, *read));
  }
}

}  // namespace

void WaczPages::Add(std::string_view url, Timestamp time) {
  moments_.insert(MomentHash(url, time.milliseconds));
  seconds_.insert(MomentHash(url, SecondOf(time)));
}

bool WaczPages::Has(std::string_view url, Timestamp time) const {
  url = WithoutFragment(url);
  if (moments_.contains(MomentHash(url, time.milliseconds))) return true;
  const std::int64_t second = SecondOf(time);
  // One of the two is known to the second only.
  const auto& known = time.milliseconds == second ? seconds_ : moments_;
  return known.contains(MomentHash(url, second));
}

// What datapackage.json says of a member.
struct WaczFile::Resource {
  std::string name;
  std::optional<Digest> digest;
  std::optional<std::uint64_t> bytes;
};

Result<std::unique_ptr<WaczFile>> WaczFile::Open(std::shared_ptr<const io::ReadableFile> file) {
  std::string begin(4, '\0');
  const Result<std::size_t> read = file->ReadAt(0, begin);
  if (!read) return read.error();
  if (*read < begin.size() || !zip::LooksLikeZip(begin)) return std::unique_ptr<WaczFile>();
  const Result<std::uint64_t> size = file->Size();
  if (!size) return size.error();
  Result<std::unique_ptr<zip::ZipReader>> zip = zip::ZipReader::Open(std::move(file));
  if (!zip && zip.error().code == ErrorCode::kIo) return zip.error();
  if (!zip) return std::unique_ptr<WaczFile>();
  std::unique_ptr<WaczFile> wacz(new WaczFile(*std::move(zip)));
  if (const Status found = wacz->FindParts(*size); !found) {
    if (found.error().code == ErrorCode::kCorrupt) return std::unique_ptr<WaczFile>();
    return found.error();
  }
  if (wacz->parts_.empty()) return std::unique_ptr<WaczFile>();
  const bool any = std::any_of(wacz->parts_.begin(), wacz->parts_.end(),
                               [](const Part& part) { return part.is_readable; });
  if (!any) {
    return Error{
        ErrorCode::kInvalid,
        "the WARC files in this WACZ file are encrypted, or packed in a way that we cannot "
        "read; unpack it and import them"};
  }
  return wacz;
}

Status WaczFile::FindParts(std::uint64_t file_bytes) {
  std::vector<Part> packed;
  std::uint64_t place = file_bytes;
  for (const zip::Entry& entry : zip_->entries()) {
    if (!IsArchiveFile(entry.name)) continue;
    const Result<zip::Range> range = zip_->RangeOf(entry);
    if (!range) return range.error();
    // A dictionary at the begin of a zstd file is needed for every record.
    if (entry.method == zip::Method::kDeflated && !entry.is_encrypted &&
        !entry.name.ends_with(".zst") && place < kPlaceMax && entry.bytes < kPlaceMax - place) {
      packed.push_back({entry.name, place, place + entry.bytes, true, true});
      place += entry.bytes;
      continue;
    }
    const bool is_stored = entry.method == zip::Method::kStored && !entry.is_encrypted;
    parts_.push_back({entry.name, range->begin, range->end, is_stored, !is_stored});
  }
  parts_.insert(parts_.end(), packed.begin(), packed.end());
  return {};
}

Result<std::unique_ptr<io::ReadableFile>> WaczFile::OpenPart(const Part& part) const {
  return zip_->OpenStored(*zip_->Find(part.name));
}

Result<std::unique_ptr<io::Source>> WaczFile::ReadPart(const Part& part) const {
  if (part.is_packed) return zip_->OpenContent(*zip_->Find(part.name));
  Result<std::unique_ptr<io::ReadableFile>> file = OpenPart(part);
  if (!file) return file.error();
  return std::unique_ptr<io::Source>(std::make_unique<io::FileSource>(*std::move(file)));
}

const WaczFile::Part* WaczFile::PartAt(std::uint64_t offset) const {
  const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.is_readable && part.begin <= offset && offset < part.end;
  });
  return found == parts_.end() ? nullptr : &*found;
}

Result<WaczPages> WaczFile::ReadPages() const {
  WaczPages pages;
  for (const std::string_view name : kPageLists) {
    WaczPages with_list = pages;
    const Status read = ReadPageList(name, [&](const WaczPage& page) -> Status {
      with_list.Add(page.url, page.time);
      return {};
    });
    if (!read && read.error().code == ErrorCode::kIo) return read.error();
    if (read) pages = std::move(with_list);
  }
  return pages;
}

Status WaczFile::ForEachPage(const std::function<Status(const WaczPage&)>& take) const {
  Status taken;
  for (const std::string_view name : kPageLists) {
    const Status read = ReadPageList(name, [&](const WaczPage& page) {
      taken = take(page);
      return taken;
    });
    if (!taken) return taken;
    if (!read && read.error().code == ErrorCode::kIo) return read;
  }
  return {};
}

Status WaczFile::ReadPageList(std::string_view name,
                              const std::function<Status(const WaczPage&)>& take) const {
  const zip::Entry* entry = zip_->Find(name);
  if (entry == nullptr) return {};
  Result<std::unique_ptr<io::Source>> source = zip_->OpenContent(*entry);
  if (!source) return source.error();
  return ForEachLine(**source, [&](std::string_view line) -> Status {
    std::optional<WaczPage> page = ParsePage(line);
    if (!page) return {};
    page->list = name;
    return take(*page);
  });
}

std::vector<WaczFile::Resource> WaczFile::ReadResources(
    std::vector<std::string>& complaints) const {
  const zip::Entry* entry = zip_->Find(kPackage);
  if (entry == nullptr) {
    complaints.push_back(fmt::format("{} is missing", kPackage));
    return {};
  }
  const Result<std::string> text = zip_->ReadContent(*entry, kPackageBytesMax);
  const json package = json::parse(text ? *text : "", nullptr, /*allow_exceptions=*/false);
  if (!package.is_object() || !package.contains("resources") ||
      !package.at("resources").is_array()) {
    complaints.push_back(fmt::format("{} does not list what is in the file", kPackage));
    return {};
  }
  std::vector<Resource> resources;
  for (const json& item : package.at("resources")) {
    Resource resource;
    resource.name = TextOf(item, "path");
    // Version 1.0 had the numbers one level deeper.
    const json& facts = item.is_object() && item.contains("stats") ? item.at("stats") : item;
    const std::string hash = TextOf(facts, "hash");
    resource.digest = Digest::Parse(
        hash.find(':') == std::string::npos ? TextOf(item, "hashing") + ":" + hash : hash);
    if (facts.is_object() && facts.contains("bytes") && facts.at("bytes").is_number_unsigned()) {
      resource.bytes = facts.at("bytes").get<std::uint64_t>();
    }
    resources.push_back(std::move(resource));
  }
  // Of the list itself.
  if (const zip::Entry* seal = zip_->Find(kPackageDigest)) {
    const Result<std::string> sealed = zip_->ReadContent(*seal, kPackageBytesMax);
    const json object = json::parse(sealed ? *sealed : "", nullptr, /*allow_exceptions=*/false);
    resources.push_back({std::string(kPackage), Digest::Parse(TextOf(object, "hash")), {}});
  }
  return resources;
}

Result<WaczExamination> WaczFile::Examine() const {
  WaczExamination found;
  std::vector<std::string>& complaints = found.complaints;
  const std::vector<Resource> resources = ReadResources(complaints);
  for (const Resource& resource : resources) {
    if (zip_->Find(resource.name) != nullptr) continue;
    complaints.push_back(fmt::format("{} is listed in {} and missing", resource.name, kPackage));
  }
  for (const zip::Entry& entry : zip_->entries()) {
    const auto resource =
        std::find_if(resources.begin(), resources.end(),
                     [&](const Resource& listed) { return listed.name == entry.name; });
    const bool has_digest = resource != resources.end() && resource->digest;
    const Result<Digest> digest = DigestOfContent(
        *zip_, entry, has_digest ? resource->digest->algorithm() : DigestAlgorithm::kSha256);
    if (!digest && digest.error().code == ErrorCode::kIo) return digest.error();
    if (!digest) {
      complaints.push_back(digest.error().text);
      continue;
    }
    if (std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
          return part.is_readable && part.name == entry.name;
        })) {
      const bool is_sha256 = digest->algorithm() == DigestAlgorithm::kSha256;
      const Result<Digest> sha256 =
          is_sha256 ? *digest : DigestOfContent(*zip_, entry, DigestAlgorithm::kSha256);
      if (!sha256) return sha256.error();
      found.parts.push_back({entry.name, sha256->Text()});
    }
    if (resource == resources.end()) continue;
    if (resource->bytes && *resource->bytes != entry.bytes) {
      complaints.push_back(fmt::format("{} has {} bytes and not {}, as {} says", entry.name,
                                       entry.bytes, *resource->bytes, kPackage));
    }
    if (has_digest && !(*digest == *resource->digest)) {
      complaints.push_back(fmt::format("{} is not what it was: its digest is {}, and should be {}",
                                       entry.name, digest->Labelled(),
                                       resource->digest->Labelled()));
    }
  }
  return found;
}

Result<std::unique_ptr<WaczFile>> OpenWacz(io::FileSystem& fs, const std::string& path) {
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  Result<std::unique_ptr<WaczFile>> wacz = WaczFile::Open(*std::move(file));
  if (!wacz) return Error{wacz.error().code, fmt::format("{}: {}", path, wacz.error().text)};
  return wacz;
}

}  // namespace stele::archive
