#include "store/container_volume.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/compare.h"
#include "store/container_content.h"
#include "store/container_cut.h"
#include "store/reservation.h"

namespace stele::store {
namespace {

// Smaller contents hardly shrink.
constexpr std::uint64_t kDeflatedBytesMin = 256;
constexpr std::size_t kNotesAtOnce = 1000;

// The lowest number that no block has.
std::uint32_t FreeOverflow(const std::vector<BlockIndex::NumberedBlock>& blocks,
                           std::uint32_t lowest) {
  std::uint32_t free = lowest;
  for (const BlockIndex::NumberedBlock& block : blocks) {
    if (block.overflow > free) break;
    if (block.overflow == free) ++free;
  }
  return free;
}

// Notes all references to a block once more: nobody knows which of them a record held that is
// damaged.
Status NoteReferences(const BlockIndex& index, ContainerLog& log, const BlockId& block,
                      const BlockRow& row) {
  std::optional<BlockOperation> after;
  for (;;) {
    const auto page = index.Operations(block, after, kNotesAtOnce);
    if (!page) return page.error();
    std::vector<ContainerLog::Copy> notes;
    for (const BlockOperation& done : *page) {
      if (done.kind != BlockOperation::Kind::kReference) break;  // releases come behind them
      notes.push_back(
          {{LogEntry::Kind::kReference, block, done.operation, row.record_id, 0, {}}, ""});
    }
    const Status noted = log.AppendAll(notes);
    if (!noted || notes.size() < kNotesAtOnce) return noted;
    after = page->back();
  }
}

}  // namespace

std::string ContainerVolume::NewRecordId() {
  const std::lock_guard lock(mutex_);
  return "urn:uuid:" + io::NewUuid(environment_.random);
}

ContentKey ContainerVolume::KeyOf(const Signature& signature, std::uint32_t overflow) const {
  return {shape_.name, signature, overflow};
}

VolumeState ContainerVolume::state() const {
  const std::uint64_t used = log_->bytes();
  const std::lock_guard lock(mutex_);
  if (configured_ != VolumeState::kWritable) return configured_;
  return HasRoom(used + 1) ? VolumeState::kWritable : VolumeState::kFull;
}

// For what is being written, where `used` bytes are written already.
bool ContainerVolume::HasRoom(std::uint64_t used) const {
  if (shape_.capacity_bytes > 0 && used + reserved_bytes_ > shape_.capacity_bytes) return false;
  const std::optional<std::uint64_t> free = disk_.FreeBytes();
  return !free || *free > options_.disk_reserve_bytes + reserved_bytes_;
}

Status ContainerVolume::Accepts(const Operation& operation, const Signature& signature) const {
  Status good = CheckOperation(operation);
  if (good) good = CheckSignature(signature, shape_.name, *options_.signature);
  if (!good) return good;
  const std::lock_guard lock(mutex_);
  if (configured_ == VolumeState::kFrozen) {
    return Error{ErrorCode::kFull, fmt::format("volume {} is frozen", shape_.name)};
  }
  return {};
}

// ---- Storing ----

// What the operation led to when it was done before.
Result<std::optional<Stored>> ContainerVolume::FindDone(const StoreRequest& request) const {
  const auto done =
      index_.FindOperation(request.signature, BlockIndex::Act::kReference, request.operation);
  if (!done) return done.error();
  if (!*done) return std::optional<Stored>();
  return std::optional(Stored{KeyOf(request.signature, **done), false});
}

Result<Lookup> ContainerVolume::Reference(const StoreRequest& request) {
  const Gate::Pass pass(gate_);
  const Status accepted = Accepts(request.operation, request.signature);
  if (!accepted) return accepted.error();
  const AccessList::Access access(access_, request.signature);
  const Result<std::optional<Stored>> done = FindDone(request);
  if (!done) return done.error();
  if (*done) return Lookup{Lookup::Outcome::kReferenced, (*done)->key};
  const Result<Blocks> blocks = FindBlocks(request);
  if (!blocks) return blocks.error();
  const auto duplicate = FindDuplicate(*blocks, request, nullptr);
  if (!duplicate) return duplicate.error();
  if (*duplicate == nullptr) return Lookup{};
  if (request.mode == StoreMode::kCompare) return Lookup{Lookup::Outcome::kCandidate};
  const std::uint32_t overflow = (*duplicate)->overflow;
  const Status added = AddNote(LogEntry::Kind::kReference, {request.signature, overflow},
                               (*duplicate)->row, request.operation);
  if (!added) return added.error();
  return Lookup{Lookup::Outcome::kReferenced, KeyOf(request.signature, overflow)};
}

// All blocks of the signature, or only the first one, when that is what the content belongs to.
Result<ContainerVolume::Blocks> ContainerVolume::FindBlocks(const StoreRequest& request) const {
  if (request.mode == StoreMode::kRegular && index_.usage().overflow_blocks > 0) {
    Result<std::optional<BlockRow>> first = index_.Find({request.signature, 0});
    if (!first) return first.error();
    if (*first && (*first)->location.length > 0 && (*first)->size == request.size) {
      return Blocks{{0, **std::move(first)}};
    }
  }
  return index_.Blocks(request.signature);
}

// The block that has the content by the rules of the mode; without `spool`, one that may have it.
// Null: none. A block that is damaged has nothing: the content is stored anew.
Result<const BlockIndex::NumberedBlock*> ContainerVolume::FindDuplicate(
    const Blocks& blocks, const StoreRequest& request, const ContainerSpool* spool) {
  const BlockIndex::NumberedBlock* none = nullptr;
  if (request.mode == StoreMode::kForceNew) return none;
  for (const BlockIndex::NumberedBlock& block : blocks) {
    if (block.row.location.length == 0 || block.row.size != request.size) continue;
    if (spool != nullptr && request.mode == StoreMode::kCompare) {
      const Result<bool> same =
          SameBytes(KeyOf(request.signature, block.overflow), block.row, *spool);
      if (!same && same.error().code == ErrorCode::kCorrupt) continue;
      if (!same) return same.error();
      if (!*same) continue;
    }
    return &block;
  }
  return none;
}

Result<bool> ContainerVolume::SameBytes(const ContentKey& key, const BlockRow& row,
                                        const ContainerSpool& spool) {
  const Result<std::unique_ptr<io::Source>> stored = OpenContent(key, row);
  if (!stored) return stored.error();
  const Result<std::unique_ptr<io::Source>> fresh = spool.Read();
  if (!fresh) return fresh.error();
  return HaveSameBytes(**stored, **fresh);
}

Status ContainerVolume::AddNote(LogEntry::Kind kind, const BlockId& block, const BlockRow& row,
                                const Operation& operation) {
  const LogEntry entry{kind, block, operation, row.record_id, 0, {}};
  return log_->AppendNote(entry);
}

// Whether a large content can be stored at all is found out before it is taken in.
Result<Stored> ContainerVolume::Store(const StoreRequest& request, io::Source& content) {
  const Status accepted = Accepts(request.operation, request.signature);
  if (!accepted) return accepted.error();
  if (request.size > options_.memory_bytes_max) {
    const Result<std::optional<Stored>> done = StoreUnread(*this, request);
    if (!done) return done.error();
    if (*done) return **done;
  }
  ContainerSpool spool(
      environment_.fs, fmt::format("{}/temporary/{}", directory_, ++temporary_number_),
      *options_.signature, request, {options_.memory_bytes_max, options_.log.copied_bytes_max});
  const Status filled = spool.Fill(content);
  Result<Stored> stored = filled ? Place(request, spool) : Result<Stored>(filled.error());
  return stored;
}

Result<Stored> ContainerVolume::Place(const StoreRequest& request, ContainerSpool& spool) {
  const Gate::Pass pass(gate_);
  const AccessList::Access access(access_, request.signature);
  const Result<std::optional<Stored>> done = FindDone(request);
  if (!done) return done.error();
  if (*done) return **done;
  if (state() == VolumeState::kFrozen) return Full();
  const Result<Blocks> blocks = FindBlocks(request);
  if (!blocks) return blocks.error();
  const auto duplicate = FindDuplicate(*blocks, request, &spool);
  if (!duplicate) return duplicate.error();
  if (*duplicate == nullptr) return MakeBlock(*blocks, request, spool);
  const BlockId block{request.signature, (*duplicate)->overflow};
  const Status added =
      AddNote(LogEntry::Kind::kReference, block, (*duplicate)->row, request.operation);
  if (!added) return added.error();
  return Stored{KeyOf(block.signature, block.overflow), false};
}

// What does not shrink is stored as it is.
Status ContainerVolume::Pack(const StoreRequest& request, LogEntry& entry, ContainerSpool& spool) {
  const Compression compression = options_.compression.Choose(request.media_type, request.codec);
  const Status accepted = AcceptsCodec(compression.codec);
  if (!accepted) return accepted;
  const BlockRecord record{request.media_type, environment_.clock.Now(), &spool.digest()};
  if (compression.codec != "identity" && entry.size >= kDeflatedBytesMin) {
    entry.coding = ContentCoding::kGzip;
    const std::string head = BlockHead(entry, shape_.name, record);
    std::unique_ptr<codec::BlockDeflater> deflater = deflaters_.Take(compression.level);
    const Status packed = spool.Pack(head, deflater.get());
    deflaters_.Give(std::move(deflater));
    if (!packed || spool.record_size() < entry.size + head.size()) return packed;
  }
  entry.coding = ContentCoding::kIdentity;
  return spool.Pack(BlockHead(entry, shape_.name, record), nullptr);
}

Result<Stored> ContainerVolume::MakeBlock(const Blocks& blocks, const StoreRequest& request,
                                          ContainerSpool& spool) {
  if (request.only_if_here) return NoSuchContent(request.signature, shape_.name);
  if (state() != VolumeState::kWritable) return Full();
  const BlockId block{request.signature, FreeOverflow(blocks, request.overflow_min)};
  const Status added = AppendBlock(
      {LogEntry::Kind::kBlock, block, request.operation, NewRecordId(), request.size, {}}, request,
      spool, nullptr);
  if (!added) return added.error();
  return Stored{KeyOf(block.signature, block.overflow), true};
}

Status ContainerVolume::AppendBlock(LogEntry entry, const StoreRequest& request,
                                    ContainerSpool& spool, const BlockRow* restored) {
  const Status packed = Pack(request, entry, spool);
  if (!packed) return packed;
  const Reservation reservation(mutex_, reserved_bytes_, spool.record_size());
  const std::uint64_t used = log_->bytes();
  {
    const std::lock_guard lock(mutex_);
    if (!HasRoom(used)) {
      return Error{ErrorCode::kFull, fmt::format("volume {} has no room for {} more bytes",
                                                 shape_.name, spool.record_size())};
    }
  }
  if (restored != nullptr) {
    const Status noted = NoteReferences(index_, *log_, entry.block, *restored);
    if (!noted) return noted;
  }
  const Result<RecordLocation> added = spool.AppendTo(*log_, entry);
  return added ? Status() : Status(added.error());
}

// Another record of the same id, for an operation that is known already: it takes the place of the
// first. That one held a reference, too.
Status ContainerVolume::Restore(const ContentKey& key, std::uint64_t size, io::Source& content) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted;
  if (state() != VolumeState::kWritable) return Full();
  const StoreRequest request{key.signature, size, StoreMode::kForceNew, "", {}};
  ContainerSpool spool(
      environment_.fs, fmt::format("{}/temporary/{}", directory_, ++temporary_number_),
      *options_.signature, request, {options_.memory_bytes_max, options_.log.copied_bytes_max});
  const Status filled = spool.Fill(content);
  if (!filled) return filled;
  const Gate::Pass pass(gate_);
  const AccessList::Access access(access_, key.signature);
  const BlockId block{key.signature, key.overflow};
  const auto row = index_.Find(block);
  if (!row) return row.error();
  const auto first = index_.Operations(block, std::nullopt, 1);
  if (!first) return first.error();
  if (!*row || first->empty()) return NotHere(key);
  return AppendBlock(
      {LogEntry::Kind::kBlock, block, first->front().operation, (*row)->record_id, size, {}},
      request, spool, &**row);
}

// ---- Reading and deleting ----

Result<ContainerVolume::OpenRecord> ContainerVolume::FindRecord(const ContentKey& key) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted.error();
  auto row = index_.Find({key.signature, key.overflow});
  if (!row) return row.error();
  if (!*row) return NotHere(key);
  return OpenAt(key, **std::move(row));
}

// The record may move while it is looked for.
Result<ContainerVolume::OpenRecord> ContainerVolume::OpenAt(const ContentKey& key, BlockRow row) {
  for (;;) {
    const Error lost{ErrorCode::kCorrupt, fmt::format("{}: its record is missing", key.Text())};
    if (row.location.length == 0) return lost;
    Result<std::shared_ptr<const io::ReadableFile>> file = files_.Open(row.location.container);
    if (file) return OpenRecord{std::move(row), *std::move(file)};
    if (file.error().code != ErrorCode::kNotFound) return file.error();
    Result<std::optional<BlockRow>> again = index_.Find({key.signature, key.overflow});
    if (!again) return again.error();
    if (!*again) return NotHere(key);
    if ((*again)->location == row.location) return lost;
    row = **std::move(again);
  }
}

std::unique_ptr<io::Source> ContainerVolume::ContentOf(const ContentKey& key,
                                                       OpenRecord record) const {
  return std::make_unique<ContainerContent>(std::move(record.file), record.row, *options_.signature,
                                            key);
}

Result<std::unique_ptr<io::Source>> ContainerVolume::OpenContent(const ContentKey& key,
                                                                 const BlockRow& row) {
  Result<OpenRecord> record = OpenAt(key, row);
  if (!record) return record.error();
  return ContentOf(key, *std::move(record));
}

Result<std::unique_ptr<io::Source>> ContainerVolume::Retrieve(const ContentKey& key) {
  Result<OpenRecord> record = FindRecord(key);
  if (!record) return record.error();
  return ContentOf(key, *std::move(record));
}

Result<PackedContent> ContainerVolume::RetrievePacked(const ContentKey& key) {
  Result<OpenRecord> record = FindRecord(key);
  if (!record) return record.error();
  const std::uint64_t size = record->row.size;
  Result<std::optional<PackedContent>> packed =
      CutContent(record->file, record->row.location, size);
  if (!packed) return packed.error();
  if (*packed) return **std::move(packed);
  return PackedContent{"identity", size, size, ContentOf(key, *std::move(record))};
}

Status ContainerVolume::Delete(const ContentKey& key, const Operation& operation) {
  Status accepted = AcceptsKey(key);
  if (!accepted) return accepted;
  const Gate::Pass pass(gate_);
  accepted = Accepts(operation, key.signature);
  if (!accepted) return accepted;
  const AccessList::Access access(access_, key.signature);
  const auto done = index_.FindOperation(key.signature, BlockIndex::Act::kRelease, operation);
  if (!done) return done.error();
  if (*done) return {};
  const BlockId block{key.signature, key.overflow};
  const auto row = index_.Find(block);
  if (!row) return row.error();
  const Result<std::uint64_t> held =
      *row ? index_.CountOf(block, **row, operation.owner) : Result<std::uint64_t>(0);
  if (!held) return held.error();
  if (*held == 0) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{} has no reference to {}", operation.owner, key.Text())};
  }
  return AddNote(LogEntry::Kind::kRelease, block, **row, operation);
}

Result<BlockInfo> ContainerVolume::Stat(const ContentKey& key) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted.error();
  const auto row = index_.Find({key.signature, key.overflow});
  if (!row) return row.error();
  if (!*row) return NotHere(key);
  return BlockInfo{(*row)->size, (*row)->location.length, (*row)->references,
                   std::string(ContentCodingName((*row)->coding))};
}

Result<VolumeStats> ContainerVolume::Stats() {
  const BlockIndex::Usage usage = index_.usage();
  VolumeStats stats;
  stats.blocks = usage.blocks;
  stats.references = usage.references;
  stats.content_bytes = usage.content_bytes;
  stats.stored_bytes = log_->bytes();
  stats.capacity_bytes = shape_.capacity_bytes;
  return stats;
}

}  // namespace stele::store
