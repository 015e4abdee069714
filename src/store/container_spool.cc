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

}  // namespace

ContainerSpool::~ContainerSpool() {
  // Leftovers are removed when the volume is opened next.
  if (in_file_) static_cast<void>(fs_.Remove(path_).ok());
  if (record_in_file_) static_cast<void>(fs_.Remove(RecordPath()).ok());
}

Status ContainerSpool::Fill(io::Source& content) {
  if (request_.packed == "gzip" && request_.size <= options_.memory_bytes_max) {
    return FillPacked(content);
  }
  const Result<std::unique_ptr<io::Source>> decoded =
      DecodedContent(content, request_.packed, request_.size);
  if (!decoded) return decoded.error();
  io::Source& plain = *decoded ? **decoded : content;
  const Status filled = FillMemory(plain);
  if (!filled) return filled;
  return content_.size() > options_.memory_bytes_max ? FillFile(plain) : CheckContent();
}

// Takes the sender's compression over, or undoes it.
Status ContainerSpool::FillPacked(io::Source& packed) {
  std::string member;
  const std::uint64_t size_max = request_.size + request_.size / 16 + 1024;
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

// Stops at the end of the content, or when it turns out to be large.
Status ContainerSpool::FillMemory(io::Source& content) {
  while (content_.size() <= options_.memory_bytes_max) {
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
  return {};
}

Status ContainerSpool::FillFile(io::Source& content) {
  auto file = fs_.Create(path_);
  if (!file) return file.error();
  in_file_ = true;
  const std::unique_ptr<SignatureStream> signing = function_.NewStream();
  std::optional<Hasher> hasher;
  if (!SignsWithDigest(function_)) hasher.emplace(DigestAlgorithm::kSha256);
  std::uint64_t size = 0;
  std::string piece = std::exchange(content_, {});
  std::size_t filled = piece.size();
  while (filled > 0) {
    const std::string_view bytes = std::string_view(piece).substr(0, filled);
    signing->Update(bytes);
    if (hasher) hasher->Update(bytes);
    size += filled;
    if (size > request_.size) return Differs("size");
    const Status written = (*file)->Append(bytes);
    if (!written) return written;
    const Result<std::size_t> read = content.Read(piece);
    if (!read) return read.error();
    filled = *read;
  }
  const Status closed = (*file)->Close();
  if (!closed) return closed;
  if (size != request_.size) return Differs("size");
  if (signing->Finish() != request_.signature) return Differs("signature");
  digest_ =
      hasher ? hasher->Finish() : Digest(DigestAlgorithm::kSha256, request_.signature.bytes());
  return {};
}

Result<std::unique_ptr<io::Source>> ContainerSpool::Read() const {
  if (!in_file_) return std::unique_ptr<io::Source>(std::make_unique<io::MemorySource>(content_));
  auto file = fs_.OpenForReading(path_);
  if (!file) return file.error();
  return std::unique_ptr<io::Source>(std::make_unique<io::FileSource>(*std::move(file)));
}

Status ContainerSpool::Pack(std::string_view head, codec::BlockDeflater* deflater) {
  record_.Clear();
  record_size_ = 0;
  if (in_file_) return PackFile(head, deflater);
  record_.Reserve(head.size() + (deflater != nullptr ? content_.size() / 2 : content_.size()) +
                  kPieceBytes / 16);
  RecordPacker packer(content_.size(), deflater, record_);
  packer.Begin(head);
  if (deflater != nullptr && !blocks_.empty()) {
    packer.AddPacked(blocks_, content_);
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
  const Result<std::unique_ptr<io::Source>> content = Read();
  if (!content) return content.error();
  const auto write_out = [&] {
    const Status written = (*file)->Append(record_.view());
    record_size_ += record_.size();
    record_.Clear();
    return written;
  };
  RecordPacker packer(request_.size, deflater, record_);
  packer.Begin(head);
  std::uint64_t left = request_.size;
  std::string piece(kPieceBytes, '\0');
  while (left > 0) {
    const std::uint64_t want = std::min<std::uint64_t>(piece.size(), left);
    const Result<std::size_t> read = (*content)->Read(std::span(piece.data(), want));
    if (!read) return read.error();
    if (*read == 0) return Error{ErrorCode::kIo, path_ + " became shorter"};
    packer.Add(std::string_view(piece).substr(0, *read));
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
