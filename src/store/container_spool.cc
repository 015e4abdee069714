#include "store/container_spool.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/container_record.h"
#include "store/packed_content.h"

namespace stele::store {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;

Error Differs(std::string_view what) {
  return {ErrorCode::kInvalid,
          fmt::format("the content does not have the {} of the request", what)};
}

// Then the one need not be computed beside the other.
bool SignsWithDigest(const SignatureFunction& function) {
  return function.name() == "sha256" && function.size() == DigestSize(DigestAlgorithm::kSha256);
}

// What a content of this size may have when it is compressed.
std::uint64_t PackedSizeMax(std::uint64_t size) { return size + size / 16 + 1024; }

// Keeps what passes. Borrows both.
class KeptSource final : public io::Source {
 public:
  KeptSource(io::Source& source, io::WritableFile& file, std::uint64_t size_max)
      : source_(source), file_(file), size_max_(size_max) {}

  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = source_.Read(out);
    if (!read || *read == 0) return read;
    size_ += *read;
    if (size_ > size_max_) return Differs("size");
    const Status kept = file_.Append({out.data(), *read});
    if (!kept) return kept.error();
    return read;
  }
  std::uint64_t size() const { return size_; }

 private:
  io::Source& source_;
  io::WritableFile& file_;
  const std::uint64_t size_max_;
  std::uint64_t size_ = 0;
};

}  // namespace

ContainerSpool::~ContainerSpool() {
  // Leftovers are removed when the volume is opened next.
  if (in_file_) static_cast<void>(fs_.Remove(path_).ok());
  if (record_in_file_) static_cast<void>(fs_.Remove(RecordPath()).ok());
}

Status ContainerSpool::Fill(io::Source& content) {
  if (request_.size > options_.memory_bytes_max) return FillFile(content);
  if (request_.packed == "gzip") return FillPacked(content);
  const Result<std::unique_ptr<io::Source>> decoded =
      DecodedContent(content, request_.packed, request_.size);
  if (!decoded) return decoded.error();
  const Status filled = FillMemory(*decoded ? **decoded : content);
  return filled ? CheckContent() : filled;
}

// Takes the sender's compression over, or undoes it.
Status ContainerSpool::FillPacked(io::Source& packed) {
  std::string member;
  const std::uint64_t size_max = PackedSizeMax(request_.size);
  while (member.size() <= size_max) {
    const std::size_t had = member.size();
    member.resize(had + std::min<std::uint64_t>(kPieceBytes, size_max - had + 1));
    const Result<std::size_t> read =
        packed.Read(std::span(member.data() + had, member.size() - had));
    member.resize(had + (read ? *read : 0));
    if (!read) return read.error();
    if (*read > 0) continue;
    if (const auto taken = TakeBlocks(member, request_.size)) {
      content_ = taken->plain.view().substr(0, request_.size);
      blocks_ = taken->blocks;
      blocks_crc_ = taken->crc;
      return CheckContent();
    }
    io::MemorySource source(member);
    DecodedSource decoded(source, *WireCodec("gzip"), request_.size);
    const Status filled = FillMemory(decoded);
    return filled ? CheckContent() : filled;
  }
  return Differs("size");
}

Status ContainerSpool::CheckContent() {
  if (content_.size() != request_.size) return Differs("size");
  const Signature signature = function_.Of(content_);
  if (signature != request_.signature) return Differs("signature");
  digest_ = SignsWithDigest(function_) ? Digest(DigestAlgorithm::kSha256, signature.bytes())
                                       : DigestOf(DigestAlgorithm::kSha256, content_);
  return {};
}

Status ContainerSpool::FillMemory(io::Source& content) {
  for (;;) {
    const std::size_t had = content_.size();
    // One byte beyond what should come shows whether that is all.
    const std::uint64_t missing = request_.size - had + 1;
    content_.resize(had + std::min<std::uint64_t>(kPieceBytes, missing));
    const Result<std::size_t> read =
        content.Read(std::span(content_.data() + had, content_.size() - had));
    content_.resize(had + (read ? *read : 0));
    if (!read) return read.error();
    if (*read == 0) return {};
    if (content_.size() > request_.size) return Differs("size");
  }
}

// Nothing that comes compressed is believed: it is inflated while it comes, as it would stand in a
// record. Blocks that then give something else may still be those of the content by themselves.
Status ContainerSpool::FillFile(io::Source& content) {
  auto file = fs_.Create(path_);
  if (!file) return file.error();
  in_file_ = true;
  const bool is_packed = !request_.packed.empty();
  KeptSource kept(content, **file, is_packed ? PackedSizeMax(request_.size) : request_.size);
  StandingMember member(kept, request_.size);
  io::Source& sent = request_.packed == "gzip" ? static_cast<io::Source&>(member) : kept;
  const Result<std::unique_ptr<io::Source>> decoded =
      DecodedContent(sent, request_.packed, request_.size + RecordPacker::kRecordEnd.size());
  if (!decoded) return decoded.error();
  Result<Signed> found = Sign(*decoded ? **decoded : sent);
  const Status closed = (*file)->Close();
  if (!closed) return closed;
  file_size_ = kept.size();
  blocks_crc_ = member.taken_crc();
  std::string_view behind = blocks_crc_ ? RecordPacker::kRecordEnd : "";
  if (blocks_crc_ && (!found || found->behind != behind)) {
    blocks_crc_.reset();
    behind = "";
    const Result<std::unique_ptr<io::Source>> again = Read();
    if (!again) return again.error();
    found = Sign(**again);
  }
  if (!found) return found.error();
  if (found->size != request_.size || found->behind != behind) return Differs("size");
  if (found->signature != request_.signature) return Differs("signature");
  digest_ = found->digest;
  return {};
}

Result<ContainerSpool::Signed> ContainerSpool::Sign(io::Source& plain) const {
  const std::unique_ptr<SignatureStream> signing = function_.NewStream();
  std::optional<Hasher> hasher;
  if (!SignsWithDigest(function_)) hasher.emplace(DigestAlgorithm::kSha256);
  std::uint64_t left = request_.size;
  std::string behind;
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    const Result<std::size_t> read = plain.Read(piece);
    if (!read) return read.error();
    if (*read == 0) break;
    const std::string_view all = std::string_view(piece).substr(0, *read);
    const std::string_view bytes = all.substr(0, left);
    signing->Update(bytes);
    if (hasher) hasher->Update(bytes);
    left -= bytes.size();
    behind += all.substr(bytes.size());
    if (behind.size() > RecordPacker::kRecordEnd.size()) return Differs("size");
  }
  const Signature signature = signing->Finish();
  return Signed{signature,
                hasher ? hasher->Finish() : Digest(DigestAlgorithm::kSha256, signature.bytes()),
                request_.size - left, std::move(behind)};
}

Result<std::unique_ptr<io::Source>> ContainerSpool::Read() const {
  if (!in_file_) return std::unique_ptr<io::Source>(std::make_unique<io::MemorySource>(content_));
  auto file = fs_.OpenForReading(path_);
  if (!file) return file.error();
  auto source = std::make_unique<io::FileSource>(*std::move(file));
  if (request_.packed.empty()) return std::unique_ptr<io::Source>(std::move(source));
  return std::unique_ptr<io::Source>(std::make_unique<DecodedSource>(
      std::move(source), *WireCodec(request_.packed), request_.size));
}

Result<std::unique_ptr<io::Source>> ContainerSpool::ReadBlocks() const {
  auto file = fs_.OpenForReading(path_);
  if (!file) return file.error();
  return std::unique_ptr<io::Source>(
      std::make_unique<io::FileSource>(*std::move(file), kBlocksBegin));
}

Status ContainerSpool::Pack(std::string_view head, codec::BlockDeflater* deflater) {
  record_.Clear();
  record_size_ = 0;
  if (in_file_) return PackFile(head, deflater);
  record_.Reserve(head.size() + (deflater != nullptr ? content_.size() / 2 : content_.size()) +
                  kPieceBytes / 16);
  RecordPacker packer(content_.size(), deflater, record_);
  packer.Begin(head);
  if (deflater != nullptr && blocks_crc_) {
    packer.BeginBlocks(*blocks_crc_);
    packer.AddBlocks(blocks_);
  } else {
    packer.Add(content_);
  }
  packer.End();
  record_size_ = record_.size();
  return {};
}

Status ContainerSpool::PackFile(std::string_view head, codec::BlockDeflater* deflater) {
  auto file = fs_.Create(RecordPath());
  if (!file) return file.error();
  record_in_file_ = true;
  const auto write_out = [&] {
    const Status written = (*file)->Append(record_.view());
    record_size_ += record_.size();
    record_.Clear();
    return written;
  };
  RecordPacker packer(request_.size, deflater, record_);
  packer.Begin(head);
  const bool takes_over = deflater != nullptr && blocks_crc_;
  if (takes_over) packer.BeginBlocks(*blocks_crc_);
  const Result<std::unique_ptr<io::Source>> content = takes_over ? ReadBlocks() : Read();
  if (!content) return content.error();
  std::uint64_t left = takes_over ? file_size_ - kBlocksBegin - kBehindBlocks : request_.size;
  std::string piece(kPieceBytes, '\0');
  while (left > 0) {
    const std::uint64_t want = std::min<std::uint64_t>(piece.size(), left);
    const Result<std::size_t> read = (*content)->Read(std::span(piece.data(), want));
    if (!read) return read.error();
    if (*read == 0) return Error{ErrorCode::kIo, path_ + " became shorter"};
    const std::string_view bytes = std::string_view(piece).substr(0, *read);
    if (takes_over) {
      packer.AddBlocks(bytes);
    } else {
      packer.Add(bytes);
    }
    left -= *read;
    const Status written = write_out();
    if (!written) return written;
  }
  packer.End();
  Status status = write_out();
  // A record that is copied is synced where it ends up.
  if (status && record_size_ > options_.copied_bytes_max) status = (*file)->Sync();
  const Status closed = (*file)->Close();
  return status ? closed : status;
}

Result<RecordLocation> ContainerSpool::AppendTo(ContainerLog& log, const LogEntry& entry) {
  return record_in_file_ ? log.AppendFile(entry, RecordPath()) : log.Append(entry, record_.view());
}

}  // namespace stele::store
