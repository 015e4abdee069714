// A merge of two sorted lists. Whether a reference was there when the list began is decided by
// counting: those that the list saw, less what the owner has released since.
#include "store/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::size_t kPage = 1000;
constexpr std::size_t kLineMax = 256;
constexpr std::size_t kIdMax = 32;

// What an owner has done to a block, without the releases of one sweep.
struct Counts {
  std::uint64_t references = 0;
  std::uint64_t releases = 0;
};

std::string Prefix(const SweepRequest& request) { return request.id + "."; }

Result<Counts> CountOwn(Volume& volume, const ContentKey& key, const std::string& owner,
                        std::string_view without_prefix) {
  Counts counts;
  std::optional<BlockOperation> after;
  for (;;) {
    const Result<std::vector<BlockOperation>> page = volume.Operations(key, after, kPage);
    if (!page) return page.error();
    for (const BlockOperation& done : *page) {
      if (done.operation.owner != owner) continue;
      if (done.kind == BlockOperation::Kind::kReference) {
        ++counts.references;
      } else if (without_prefix.empty() || !done.operation.id.starts_with(without_prefix)) {
        ++counts.releases;
      }
    }
    if (page->size() < kPage) return counts;
    after = page->back();
  }
}

// The lines of a list, each beginning with a block, in their order.
class BlockLines {
 public:
  struct Line {
    BlockId block;
    std::vector<std::string_view> words;  // behind the block; until the next call of Next()
  };

  BlockLines(io::Source& source, std::string name) : source_(source), name_(std::move(name)) {}

  // Nothing at the end.
  Result<std::optional<Line>> Next() {
    const Result<bool> has = ReadLine();
    if (!has) return has.error();
    if (!*has) return std::optional<Line>();
    std::vector<std::string_view> words = Split(line_, ' ');
    const std::optional<BlockId> block = ParseBlockName(words.front());
    if (!block) return Wrong("it must begin with SIGNATURE or SIGNATURE.NUMBER");
    if (last_ && !(*last_ < *block)) return Wrong("it does not come behind the line before it");
    last_ = block;
    words.erase(words.begin());
    return std::optional(Line{*block, std::move(words)});
  }

  Error Wrong(std::string_view what) const {
    return {ErrorCode::kInvalid, fmt::format("{}, line {}: {}", name_, number_, what)};
  }

 private:
  Result<bool> ReadLine() {
    line_.clear();
    ++number_;
    for (;;) {
      if (at_ == size_) {
        piece_.resize(std::size_t{16} << 10);
        const Result<std::size_t> read = source_.Read(piece_);
        if (!read) return read.error();
        if (*read == 0) return line_.empty() ? Result<bool>(false) : Wrong("it does not end");
        at_ = 0;
        size_ = *read;
      }
      const char c = piece_[at_++];
      if (c == '\n') return true;
      if (line_.size() == kLineMax) return Wrong("it is too long");
      line_ += c;
    }
  }

  io::Source& source_;
  const std::string name_;
  std::string piece_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::string line_;
  std::uint64_t number_ = 0;
  std::optional<BlockId> last_;
};

// Takes back what is left of `listed`. Returns how many references of it are now gone.
Result<std::uint64_t> TakeBack(Volume& volume, const SweepRequest& request, const BlockId& block,
                               const Counts& listed) {
  const ContentKey key{volume.name(), block.signature, block.overflow};
  const Result<Counts> now = CountOwn(volume, key, request.owner, Prefix(request));
  if (!now) return now.error();
  const std::uint64_t held = listed.references - listed.releases;
  const std::uint64_t since = now->releases - std::min(now->releases, listed.releases);
  const std::uint64_t count = held - std::min(held, since);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string id = fmt::format("{}{}.{}", Prefix(request), block.overflow, i);
    const Status deleted = volume.Delete(key, {request.owner, id});
    // The owner has taken it back itself in this moment.
    if (!deleted && deleted.error().code == ErrorCode::kNotFound) return i;
    if (!deleted) return deleted.error();
  }
  return count;
}

}  // namespace

Status ListForSweep(Volume& volume, const std::string& owner, io::Sink& list) {
  ListRequest request{std::nullopt, kPage, owner};
  for (;;) {
    const Result<std::vector<ListedBlock>> page = volume.List(request);
    if (!page) return page.error();
    for (const ListedBlock& listed : *page) {
      const ContentKey key{volume.name(), listed.block.signature, listed.block.overflow};
      const Result<Counts> counts = CountOwn(volume, key, owner, "");
      if (!counts) return counts.error();
      if (counts->references <= counts->releases) continue;  // given back in this moment
      const Status written =
          list.Write(fmt::format("{} {} {}\n", BlockName(key.signature, key.overflow),
                                 counts->references, counts->releases));
      if (!written) return written;
    }
    if (page->size() < kPage) return {};
    request.after = page->back().block;
  }
}

Result<Swept> Sweep(Volume& volume, const SweepRequest& request, io::Source& listed,
                    io::Source& kept) {
  if (request.id.size() > kIdMax || !IsOperation({request.owner, request.id})) {
    return Error{ErrorCode::kInvalid, "a sweep needs an owner and an id of at most 32 characters"};
  }
  BlockLines listed_lines(listed, "the list of what is held");
  BlockLines kept_lines(kept, "the list of what is kept");
  Swept swept;
  Result<std::optional<BlockLines::Line>> claimed = kept_lines.Next();
  if (!claimed) return claimed.error();
  for (;;) {
    const Result<std::optional<BlockLines::Line>> line = listed_lines.Next();
    if (!line) return line.error();
    if (!*line) break;
    const BlockId& block = (*line)->block;
    const auto& words = (*line)->words;
    const auto references = words.size() == 2 ? ParseDecimal(words[0]) : std::nullopt;
    const auto releases = words.size() == 2 ? ParseDecimal(words[1]) : std::nullopt;
    if (!references || !releases || *references < *releases) {
      return listed_lines.Wrong("it must be BLOCK REFERENCES RELEASES");
    }
    while (*claimed && (*claimed)->block < block) {
      claimed = kept_lines.Next();
      if (!claimed) return claimed.error();
    }
    if (*claimed && !(*claimed)->words.empty()) return kept_lines.Wrong("it must be BLOCK alone");
    if (*claimed && (*claimed)->block == block) {
      ++swept.kept_blocks;
      continue;
    }
    const Result<std::uint64_t> released =
        TakeBack(volume, request, block, {*references, *releases});
    if (!released) return released.error();
    swept.released_references += *released;
    ++swept.released_blocks;
  }
  return swept;
}

}  // namespace stele::store
