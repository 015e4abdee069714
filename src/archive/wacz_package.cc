#include "archive/wacz_package.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/crc32.h"
#include "codec/gzip_codec.h"
#include "util/json.h"

namespace stele::archive {
namespace {

// Lines of the index that are compressed together, as other writers do.
constexpr std::size_t kLinesInBlock = 3000;
constexpr int kIndexLevel = 6;
constexpr std::size_t kReadBytes = std::size_t{1} << 20;

}  // namespace

void AppendJsonPair(std::string& object, std::string_view name, std::string_view value) {
  if (object.back() != '{') object += ", ";
  AppendJsonString(object, name);
  object += ": ";
  AppendJsonString(object, value);
}

Result<std::unique_ptr<WaczSpool>> WaczSpool::Create(io::FileSystem& fs, std::string path) {
  Result<std::unique_ptr<io::WritableFile>> file = fs.Create(path);
  if (!file) return file.error();
  return std::unique_ptr<WaczSpool>(new WaczSpool(fs, std::move(path), *std::move(file)));
}

WaczSpool::~WaczSpool() { static_cast<void>(fs_.Remove(path_)); }

Status WaczSpool::Write(std::string_view bytes) {
  hasher_.Update(bytes);
  content_.crc32 = codec::Crc32(content_.crc32, bytes);
  content_.bytes += bytes.size();
  return file_->Append(bytes);
}

Status WaczSpool::Close() {
  digest_ = hasher_.Finish().Labelled();
  return file_->Close();
}

void WaczPackage::List(std::string_view folder, std::string_view name, std::string_view digest,
                       std::uint64_t bytes) {
  std::string resource = "{";
  AppendJsonPair(resource, "name", name);
  AppendJsonPair(resource, "path", fmt::format("{}/{}", folder, name));
  AppendJsonPair(resource, "hash", digest);
  if (!resources_.empty()) resources_ += ", ";
  resources_ += fmt::format("{}, \"bytes\": {}}}", resource, bytes);
}

Status WaczPackage::Add(std::string_view folder, std::string_view name, std::string_view bytes) {
  List(folder, name, DigestOf(DigestAlgorithm::kSha256, bytes).Labelled(), bytes.size());
  return zip_.Add(fmt::format("{}/{}", folder, name), bytes);
}

Status WaczPackage::Add(std::string_view folder, std::string_view name, io::FileSystem& fs,
                        const WaczSpool& spool) {
  List(folder, name, spool.digest(), spool.content().bytes);
  const Status begun = zip_.Begin(fmt::format("{}/{}", folder, name), spool.content());
  if (!begun) return begun;
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(spool.path());
  if (!file) return file.error();
  io::FileSource source(*std::move(file));
  std::string buffer(kReadBytes, '\0');
  for (;;) {
    const Result<std::size_t> read = source.Read(buffer);
    if (!read) return read.error();
    if (*read == 0) return {};
    const Status written = zip_.Append(std::string_view(buffer).substr(0, *read));
    if (!written) return written;
  }
}

// Blocks of lines, each compressed alone, and a list of their first lines: a reader on the other
// end of a network gets the blocks that it needs.
Status WaczPackage::AddIndex(std::vector<std::string> index_lines) {
  std::sort(index_lines.begin(), index_lines.end());
  const codec::GzipCodec gzip;
  std::string blocks;
  std::string list = "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n";
  for (std::size_t at = 0; at < index_lines.size(); at += kLinesInBlock) {
    std::string lines;
    for (std::size_t i = at; i < std::min(at + kLinesInBlock, index_lines.size()); ++i) {
      lines += index_lines[i];
    }
    Result<std::string> packed = gzip.Compress(lines, kIndexLevel);
    if (!packed) return packed.error();
    list += fmt::format("{}{{\"offset\": {}, \"length\": {}, \"digest\": \"{}\"}}\n",
                        lines.substr(0, lines.find('{')), blocks.size(), packed->size(),
                        DigestOf(DigestAlgorithm::kSha256, *packed).Labelled());
    blocks += *packed;
  }
  if (const Status added = Add("indexes", "index.cdx.gz", blocks); !added) return added;
  return Add("indexes", "index.idx", list);
}

Status WaczPackage::Finish(const ArchiveConfig& config, std::string_view software) {
  std::string about = "{";
  AppendJsonPair(about, "profile", "data-package");
  AppendJsonPair(about, "wacz_version", "1.1.1");
  AppendJsonPair(about, "software", software);
  AppendJsonPair(about, "created", FormatIso(time_));
  AppendJsonPair(about, "modified", FormatIso(time_));
  for (const auto& [name, value] :
       {std::pair("title", config.title), std::pair("description", config.description),
        std::pair("creator", config.creator), std::pair("rights", config.rights),
        std::pair("contact", config.contact), std::pair("language", config.language)}) {
    if (!value.empty()) AppendJsonPair(about, name, value);
  }
  about += fmt::format(", \"resources\": [{}]}}\n", resources_);
  std::string seal = "{";
  AppendJsonPair(seal, "path", "datapackage.json");
  AppendJsonPair(seal, "hash", DigestOf(DigestAlgorithm::kSha256, about).Labelled());
  seal += "}\n";
  if (const Status added = zip_.Add("datapackage.json", about); !added) return added;
  if (const Status added = zip_.Add("datapackage-digest.json", seal); !added) return added;
  return zip_.Finish();
}

}  // namespace stele::archive
