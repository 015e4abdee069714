// Checking and compacting a volume behind a server.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "store/remote/remote_volume.h"
#include "store/remote/wire_compact.h"

namespace stele::store {
namespace {

// A server that compacts says so every few seconds, whatever it takes in all.
constexpr std::chrono::hours kCompactTimeMax{7 * 24};
constexpr std::size_t kListedAgain = 10;

// Returns how many bytes came.
Result<std::uint64_t> Drain(io::Source& source) {
  std::string room(64 << 10, '\0');
  std::uint64_t size = 0;
  for (;;) {
    const Result<std::size_t> read = source.Read(room);
    if (!read) return read.error();
    if (*read == 0) return size;
    size += *read;
  }
}

// The next line without its line feed; `rest` is what has been read behind it.
Result<std::string> NextLine(io::Source& source, std::string& rest) {
  std::string room(4 << 10, '\0');
  for (;;) {
    if (const std::size_t end = rest.find('\n'); end != std::string::npos) {
      std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      return line;
    }
    if (rest.size() > wire::kAnswerSizeMax) {
      return Error{ErrorCode::kCorrupt, "the answer is far too long"};
    }
    const Result<std::size_t> read = source.Read(room);
    if (!read) return read.error();
    if (*read == 0) return Error{ErrorCode::kIo, "the answer ended before the compaction"};
    rest.append(room, 0, *read);
  }
}

}  // namespace

// Others may have been stored between the two.
Result<bool> RemoteVolume::IsListed(const BlockId& block, const std::optional<BlockId>& before) {
  ListRequest page{.after = before, .limit = kListedAgain};
  for (;;) {
    const Result<std::vector<ListedBlock>> listed = List(page);
    if (!listed) return listed.error();
    for (const ListedBlock& one : *listed) {
      if (one.block >= block) return one.block == block;
    }
    if (listed->size() < page.limit) return false;
    page.after = listed->back().block;
  }
}

Result<std::optional<Finding>> RemoteVolume::FindingOf(const ListedBlock& listed,
                                                       const std::optional<BlockId>& before) {
  const ContentKey key{options_.name, listed.block.signature, listed.block.overflow};
  const auto read = [&]() -> Result<std::uint64_t> {
    const Result<std::unique_ptr<io::Source>> content = Retrieve(key);
    return content ? Drain(**content) : content.error();
  };
  Result<std::uint64_t> size = read();
  if (!size) size = read();  // it may have been cut off on its way
  if (size && *size == listed.size) return std::optional<Finding>();
  if (size) {
    return std::optional(Finding{key.Text(), ErrorCode::kCorrupt,
                                 fmt::format("it has {} bytes instead of {}", *size, listed.size)});
  }
  const Result<bool> still_there = IsListed(listed.block, before);
  if (!still_there) return still_there.error();
  if (!*still_there) return std::optional<Finding>();
  return std::optional(Finding{key.Text(), size.error().code, size.error().text});
}

Result<std::uint64_t> RemoteVolume::Verify(const VerifyOptions& options) {
  std::uint64_t blocks = 0;
  ListRequest page;
  for (;;) {
    const Result<std::vector<ListedBlock>> listed = List(page);
    if (!listed) return listed.error();
    for (const ListedBlock& one : *listed) {
      const Result<std::optional<Finding>> finding = FindingOf(one, page.after);
      if (!finding) return finding.error();
      if (*finding) options.report(**finding);
      ++blocks;
      if (options.progress) options.progress(blocks);
      page.after = one.block;
    }
    if (listed->size() < page.limit) return blocks;
  }
}

Result<std::uint64_t> RemoteVolume::Compact(const CompactOptions& options) {
  const double percent = std::clamp(options.used_share_max, 0.0, 1.0) * 100;
  net::ClientRequest request =
      NewRequest("POST", fmt::format("/compact?below={}", std::lround(percent)));
  request.total_timeout = kCompactTimeMax;
  const Result<Response> response = Send(request);
  if (!response) return Named(response.error());
  std::string rest;
  while (!options.stop || !options.stop()) {
    const Result<std::string> text = NextLine(**response, rest);
    if (!text) return Named(text.error());
    if (text->empty()) continue;
    const Result<wire::CompactLine> line = wire::CompactLineFrom(*text);
    if (!line) return Named(line.error());
    if (const auto* error = std::get_if<Error>(&*line)) return Named(*error);
    if (const auto* end = std::get_if<wire::Compacted>(&*line)) return end->freed_bytes;
    const auto* progress = std::get_if<wire::CompactProgress>(&*line);
    if (progress != nullptr && options.progress) {
      options.progress(progress->done_bytes, progress->all_bytes);
    }
    const auto* finding = std::get_if<Finding>(&*line);
    if (finding != nullptr && options.report) options.report(*finding);
  }
  return std::uint64_t{0};  // the server notices that nobody listens
}

}  // namespace stele::store
