#include "crawl/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crawl/missing_embeds.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace stele::crawl {
namespace {

constexpr std::size_t kRememberedMax = 200'000;  // of each kind
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// A log that is cut to its good part; `size` becomes what it has.
Result<std::unique_ptr<io::WritableFile>> OpenCut(io::FileSystem& fs, const std::string& path,
                                                  std::uint64_t& size) {
  Result<std::unique_ptr<io::WritableFile>> file = fs.OpenForAppending(path);
  if (!file) return file.error();
  Result<std::unique_ptr<io::ReadableFile>> there = fs.OpenForReading(path);
  if (!there) return there.error();
  const Result<std::uint64_t> bytes = (*there)->Size();
  if (!bytes) return bytes.error();
  size = std::min(size, *bytes);
  if (const Status cut = (*file)->Truncate(size); !cut) return cut.error();
  return file;
}

Status Append(io::WritableFile& file, std::string& lines, std::uint64_t& size) {
  if (lines.empty()) return {};
  if (const Status written = file.Append(lines); !written) return written;
  if (const Status synced = file.Sync(); !synced) return synced;
  size += lines.size();
  lines.clear();
  return {};
}

// False: it is there already.
bool Insert(std::unordered_set<std::uint64_t>& checksums, std::uint64_t checksum) {
  if (checksums.size() >= kRememberedMax) checksums.clear();
  return checksums.insert(checksum).second;
}

std::uint64_t RejectionOf(std::string_view url, std::string_view hops, std::string_view reason) {
  Candidate candidate;
  if (hops != "-") candidate.hops = hops;
  return ChecksumOf(url, ChecksumOf(reason) + (candidate.is_page() ? 1 : 0));
}

std::string LineOf(const Candidate& candidate, std::string_view reason, Timestamp now) {
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  return fmt::format("{} {} {} {} {}\n", FormatIsoMillis(now), candidate.url,
                     or_dash(candidate.hops), or_dash(candidate.via), reason);
}

}  // namespace

std::string RunLog::Sizes::Encode() const {
  std::string out;
  PutFixed64(out, crawl);
  PutFixed64(out, scope);
  PutFixed64(out, embeds);
  return out;
}

RunLog::Sizes RunLog::Sizes::Decode(std::string_view bytes) {
  ByteReader in(bytes);
  Sizes sizes;
  sizes.crawl = in.Fixed64();
  sizes.scope = in.Fixed64();
  sizes.embeds = in.Fixed64();
  return sizes;
}

Result<std::unique_ptr<RunLog>> RunLog::Open(io::FileSystem& fs, const std::string& folder,
                                             const Sizes& sizes) {
  std::unique_ptr<RunLog> log(new RunLog());
  log->sizes_ = sizes;
  Result<std::unique_ptr<io::WritableFile>> crawl =
      OpenCut(fs, CrawlLogPath(folder), log->sizes_.crawl);
  if (!crawl) return crawl.error();
  Result<std::unique_ptr<io::WritableFile>> scope =
      OpenCut(fs, ScopeLogPath(folder), log->sizes_.scope);
  if (!scope) return scope.error();
  Result<std::unique_ptr<io::WritableFile>> embeds =
      OpenCut(fs, EmbedLogPath(folder), log->sizes_.embeds);
  if (!embeds) return embeds.error();
  if (const Status synced = fs.SyncDirectory(folder); !synced) return synced.error();
  log->crawl_ = *std::move(crawl);
  log->scope_ = *std::move(scope);
  log->embeds_ = *std::move(embeds);
  if (const Status remembered = log->Remember(fs, folder); !remembered) return remembered.error();
  return log;
}

Status RunLog::Remember(io::FileSystem& fs, const std::string& folder) {
  const Status scope = ReadLogLines(fs, ScopeLogPath(folder), [&](std::string_view text) {
    const std::optional<ScopeLine> line = ParseScopeLine(text);
    if (line) Insert(rejected_, RejectionOf(line->url, line->hops, line->reason));
  });
  if (!scope) return scope;
  return ReadLogLines(fs, EmbedLogPath(folder), [&](std::string_view text) {
    const std::optional<ScopeLine> line = ParseScopeLine(text);
    if (line) Insert(embed_urls_, ChecksumOf(line->url));
  });
}

void RunLog::Add(crawl_log::Line line, Timestamp now) {
  line.logged_at = FormatIsoMillis(now);
  crawl_lines_ += crawl_log::FormatLine(line);
  crawl_lines_ += '\n';
}

void RunLog::AddRejected(const Candidate& candidate, std::string_view reason, Timestamp now) {
  if (!Insert(rejected_, RejectionOf(candidate.url, candidate.hops, reason))) return;
  scope_lines_ += LineOf(candidate, reason, now);
}

void RunLog::AddEmbed(const Candidate& candidate, Timestamp now) {
  if (!Insert(embed_urls_, ChecksumOf(candidate.url))) return;
  embed_lines_ += LineOf(candidate, "known", now);
}

bool RunLog::HasEmbed(std::string_view url) const { return embed_urls_.contains(ChecksumOf(url)); }

Status RunLog::Flush() {
  if (const Status crawl = Append(*crawl_, crawl_lines_, sizes_.crawl); !crawl) return crawl;
  if (const Status scope = Append(*scope_, scope_lines_, sizes_.scope); !scope) return scope;
  return Append(*embeds_, embed_lines_, sizes_.embeds);
}

std::string ExtraText(const crawl_log::Line& line, const char* name) {
  const nlohmann::json extra = nlohmann::json::parse(line.extra, nullptr, false);
  const bool has_it = extra.is_object() && extra.contains(name) && extra[name].is_string();
  return has_it ? extra[name].get<std::string>() : std::string();
}

Status ReadLogLines(io::FileSystem& fs, const std::string& path,
                    const std::function<void(std::string_view line)>& take) {
  const Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  std::string text;
  std::string piece(kPieceBytes, '\0');
  for (std::uint64_t offset = 0;;) {
    const Result<std::size_t> size = (*file)->ReadAt(offset, piece);
    if (!size) return size.error();
    if (*size == 0) return {};
    offset += *size;
    text.append(piece, 0, *size);
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
      take(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
  }
}

}  // namespace stele::crawl
