// Checking a container volume: once by its table, so that what is wrong has the name of a content,
// and once by its containers from begin to end, so that no byte is left out.
#include <fmt/format.h>

#include "store/container_content.h"
#include "store/container_volume.h"

namespace stele::store {
namespace {

Status ReadToEnd(io::Source& source) {
  std::string piece(64 << 10, '\0');
  for (;;) {
    const Result<std::size_t> read = source.Read(piece);
    if (!read) return read.error();
    if (*read == 0) return {};
  }
}

}  // namespace

Result<std::uint64_t> ContainerVolume::Verify(const VerifyOptions& options) {
  const Report& report = options.report;
  const std::lock_guard maintaining(maintaining_);
  std::uint64_t blocks = 0;
  Status status;
  BlockIndex::Auditor auditor;
  auditor.block = [&](const BlockIndex::AuditedBlock& block) {
    if (!status) return;
    const Result<bool> read = CheckBlock(block, report);
    if (!read) status = read.error();
    if (!read || !*read) return;
    ++blocks;
    if (options.progress) options.progress(blocks);
  };
  auditor.owner = [&](const BlockIndex::AuditedOwner& owner) {
    const auto& [kept, found] = owner;
    if (kept == found) return;
    report(
        {directory_, ErrorCode::kCorrupt,
         fmt::format("owner {} counts {} references to {} bytes, but has {} to {}", kept.owner,
                     kept.references, kept.content_bytes, found.references, found.content_bytes)});
  };
  const Status audited = index_.Audit(options_.signature->size(), auditor);
  if (status) status = audited;
  if (status) status = CheckContainers(report);
  if (!status) return status.error();
  return blocks;
}

// True when there was a block to read.
Result<bool> ContainerVolume::CheckBlock(const BlockIndex::AuditedBlock& audited,
                                         const Report& report) {
  const ContentKey key = KeyOf(audited.block.signature, audited.block.overflow);
  const auto references = static_cast<std::int64_t>(audited.row.references);
  if (audited.by_operations != references || audited.by_owners != references) {
    report({key.Text(), ErrorCode::kCorrupt,
            fmt::format("it counts {} references, its operations make {}, its owners {}",
                        references, audited.by_operations, audited.by_owners)});
  }
  if (references == 0) return false;
  if (audited.row.location.length == 0) {
    report({key.Text(), ErrorCode::kNotFound, "it is referenced, but its record is missing"});
    return false;
  }
  const Result<std::unique_ptr<io::Source>> content = OpenContent(key, audited.row);
  const Status read = content ? ReadToEnd(**content) : Status(content.error());
  if (read) return true;
  if (read.error().code == ErrorCode::kNotFound) return false;  // deleted meanwhile
  if (read.error().code != ErrorCode::kCorrupt) return read.error();
  report({key.Text(), ErrorCode::kCorrupt, read.error().text});
  return true;
}

Status ContainerVolume::CheckContainers(const Report& report) {
  // What is written behind this place meanwhile may be incomplete.
  const LogPosition end = index_.position();
  const Result<std::vector<ContainerName>> names = files_.List();
  if (!names) return names.error();
  Result<UsedBytes> used = index_.UsedBytes(options_.signature->size());
  if (!used) return used.error();
  for (const ContainerName& name : *names) {
    used->erase(name.serial);
    if (name.serial > end.container) continue;
    Result<std::shared_ptr<const io::ReadableFile>> file = files_.Open(name.serial);
    if (!file) return file.error();
    if (name.serial == end.container) {
      file = std::shared_ptr<const io::ReadableFile>(
          std::make_shared<FilePrefix>(*std::move(file), end.offset));
    }
    const Result<ScannedContainer> scanned =
        ScanContainer(*std::move(file), name.serial, 0, true, [](LogEntry) { return Status(); });
    if (!scanned) return scanned.error();
    for (const LogDamage& damage : scanned->damaged) report(FindingOf(damage));
  }
  for (const auto& [container, bytes] : *used) {
    if (container > end.container) continue;
    report({files_.PathOf({container, true}), ErrorCode::kNotFound,
            fmt::format("the container is missing, with {} bytes that are used", bytes)});
  }
  return {};
}

Finding ContainerVolume::FindingOf(const LogDamage& damage) const {
  const bool sealed = damage.container < index_.position().container;
  return {files_.PathOf({damage.container, sealed}), ErrorCode::kCorrupt,
          fmt::format("bytes {} to {}: {}", damage.begin, damage.end, damage.text)};
}

}  // namespace stele::store
