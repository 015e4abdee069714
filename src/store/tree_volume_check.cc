// Looking at every block of a tree volume.
#include <fmt/format.h>

#include "store/block_file.h"
#include "store/tree_volume.h"

namespace stele::store {
namespace {

using Report = std::function<void(const Finding&)>;

// Reads to the end, for what may be wrong on the way.
Status Drain(io::Source& source) {
  std::string room(64 << 10, '\0');
  for (;;) {
    const Result<std::size_t> read = source.Read(room);
    if (!read) return read.error();
    if (*read == 0) return {};
  }
}

}  // namespace

// `digits` are those of the directories above.
Status TreeVolume::Walk(const std::string& directory, const std::string& digits, int level,
                        const Report& report, const VisitBlock& visit) {
  const Result<std::vector<std::string>> names = fs_.List(directory);
  if (!names && names.error().code == ErrorCode::kNotFound) return {};
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const std::string path = directory + '/' + name;
    const std::optional<BlockId> block = ParseBlockName(digits + name);
    const bool fits = block && (level < shape_.depth ? name.size() == 2
                                                     : block->signature.bytes().size() ==
                                                           options_.signature->size());
    if (!fits) {
      report({path, ErrorCode::kInvalid, "does not belong here"});
      continue;
    }
    const Status done =
        level < shape_.depth ? Walk(path, digits + name, level + 1, report, visit) : visit(*block);
    if (!done) return done;
  }
  return {};
}

// The block is opened with its counter while nobody changes it; its content never changes.
Status TreeVolume::CheckBlock(const BlockId& block, const Report& report) {
  const ContentKey key = KeyOf(block.signature, block.overflow);
  const auto find = [&](const Error& error) { report({key.Text(), error.code, error.text}); };
  std::unique_ptr<io::Source> content;
  {
    const AccessList::Access access(access_, block.signature);
    const Result<ReferenceLog::References> references = log_->Find(block.signature);
    if (!references) return references.error();
    const Result<bool> exists = fs_.Exists(PathOf(key));
    if (!exists) return exists.error();
    const std::uint64_t count = references->set().Count(block.overflow);
    if (!*exists) {
      if (count > 0) find({ErrorCode::kNotFound, "the block is missing"});
      return {};
    }
    if (count == 0) {
      find({ErrorCode::kInvalid, "nobody refers to this block"});
      return {};
    }
    Result<OpenBlock> open = OpenBlockFile(fs_, PathOf(key));
    if (!open) {
      find(open.error());
      return {};
    }
    const bool is_behind = buffered() && references->unsettled();
    if (!is_behind && open->header.references != count) {
      find({ErrorCode::kCorrupt, fmt::format("its header counts {} references, but there are {}",
                                             open->header.references, count)});
    }
    Result<std::unique_ptr<io::Source>> opened = OpenContent(key);
    if (!opened) {
      find(opened.error());
      return {};
    }
    content = *std::move(opened);
  }
  const Status read = Drain(*content);
  if (!read) find(read.error());
  return {};
}

// A block that is not goes, with all that the journal says of it since it was made.
Result<bool> TreeVolume::IsWhole(const ReferenceEntry& made) {
  const ContentKey key = KeyOf(made.block.signature, made.block.overflow);
  Status status;
  const Result<OpenBlock> block = OpenBlockFile(fs_, PathOf(key));
  if (!block) status = block.error();
  if (block && block->header.size != static_cast<std::uint64_t>(made.size)) {
    status = Error{ErrorCode::kCorrupt, "another size"};
  }
  if (status) {
    const Result<std::unique_ptr<io::Source>> content = OpenContent(key);
    status = content ? Drain(**content) : Status(content.error());
  }
  if (status) return true;
  const ErrorCode code = status.error().code;
  if (code == ErrorCode::kNotFound) return false;
  if (code != ErrorCode::kCorrupt && code != ErrorCode::kInvalid) return status.error();
  const Status removed = RemoveBlock(made.block);
  if (!removed) return removed.error();
  return false;
}

Result<std::uint64_t> TreeVolume::Verify(const VerifyOptions& options) {
  const Report& report = options.report;
  std::uint64_t blocks = 0;
  Status status = Walk(directory_ + "/blocks", "", 1, report, [&](const BlockId& block) {
    const Status checked = CheckBlock(block, report);
    ++blocks;
    if (options.progress) options.progress(blocks);
    return checked;
  });
  if (!status) return status.error();
  status = log_->ForEach([&](const ReferenceLog::Count& count) {
    const Result<bool> exists = fs_.Exists(PathOf(count.block.signature, count.block.overflow));
    if (!exists) return Status(exists.error());
    return *exists ? Status() : CheckBlock(count.block, report);
  });
  if (status) status = CheckOwners(report);
  if (!status) return status.error();
  if (journal_was_damaged_) {
    report({directory_ + "/journal.damaged", ErrorCode::kCorrupt,
            "lines of this journal could not be read: references may be missing"});
  }
  return blocks;
}

// The sums are added up while others go on; where they differ, once more alone.
Status TreeVolume::CheckOwners(const Report& report) {
  Result<ReferenceLog::OwnerSums> found = log_->AddUpOwners();
  if (!found) return found.error();
  if (*found == log_->owners()) return {};
  const Gate::Alone alone(gate_);
  found = log_->AddUpOwners();
  if (!found) return found.error();
  ReferenceLog::OwnerSums sums = log_->owners();
  for (const auto& [owner, sum] : *found) sums.try_emplace(owner);
  for (const auto& [owner, sum] : sums) {
    const ReferenceLog::OwnerSum& real = (*found)[owner];
    if (real == sum) continue;
    report({directory_ + "/journal", ErrorCode::kCorrupt,
            fmt::format("owner {} counts {} references to {} bytes, but has {} to {}", owner,
                        sum.references, sum.content_bytes, real.references, real.content_bytes)});
  }
  return {};
}

Result<std::uint64_t> TreeVolume::Compact(const CompactOptions& options) {
  if (state() == VolumeState::kFrozen) return Full();
  if (journal_was_damaged_) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("references may have been lost: look at {}/journal.damaged, then move "
                             "it elsewhere and open the volume again",
                             directory_)};
  }
  std::uint64_t freed_bytes = 0;
  bool stopped = false;
  const Status walked = Walk(
      directory_ + "/blocks", "", 1, [](const Finding&) {},
      [&](const BlockId& block) -> Status {
        stopped = options.stop && options.stop();
        if (stopped) return Error{ErrorCode::kBusy, "stopped"};
        const Gate::Pass pass(gate_);
        const AccessList::Access access(access_, block.signature);
        const Result<ReferenceLog::References> references = log_->Find(block.signature);
        if (!references) return references.error();
        if (references->set().Count(block.overflow) > 0 || references->damaged()) return {};
        const auto file = fs_.OpenForReading(PathOf(block.signature, block.overflow));
        if (!file && file.error().code == ErrorCode::kNotFound) return {};  // deleted meanwhile
        if (!file) return file.error();
        const Result<std::uint64_t> size = (*file)->Size();
        if (!size) return size.error();
        freed_bytes += *size;
        return RemoveBlock(block);
      });
  if (!walked && !stopped) return walked.error();
  return freed_bytes;
}

}  // namespace stele::store
