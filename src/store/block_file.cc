#include "store/block_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace stele::store {
namespace {

constexpr std::size_t kPiece = 64 << 10;

// Feeds an encoder and appends what it gives to a file.
class BlockWriter {
 public:
  BlockWriter(io::WritableFile& file, codec::Encoder& encoder)
      : file_(file), encoder_(encoder), room_(kPiece, '\0') {}

  Status Write(std::string_view bytes, bool finish) {
    for (;;) {
      const Result<codec::Progress> step = encoder_.Encode(bytes, room_, finish);
      if (!step) return step.error();
      bytes.remove_prefix(step->consumed);
      written_ += step->produced;
      if (step->produced > 0) {
        const Status appended = file_.Append(std::string_view(room_).substr(0, step->produced));
        if (!appended) return appended;
      }
      if (finish ? step->done : bytes.empty()) return {};
    }
  }
  std::uint64_t written() const { return written_; }

 private:
  io::WritableFile& file_;
  codec::Encoder& encoder_;
  std::string room_;
  std::uint64_t written_ = 0;
};

Status FinishFile(io::WritableFile& file, Status status, bool sync) {
  if (status && sync) status = file.Sync();
  const Status closed = file.Close();
  return status ? closed : status;
}

}  // namespace

Result<OpenBlock> OpenBlockFile(io::FileSystem& fs, const std::string& path) {
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  std::string bytes(kBlockHeaderSize, '\0');
  const Result<std::size_t> read = (*file)->ReadAt(0, bytes);
  if (!read) return read.error();
  Result<BlockHeader> header = ParseBlockHeader(std::string_view(bytes).substr(0, *read));
  if (!header) {
    return Error{header.error().code, fmt::format("{}: {}", path, header.error().text)};
  }
  return OpenBlock{*std::move(file), *std::move(header)};
}

BlockSource::BlockSource(OpenBlock block, const codec::Codec& codec,
                         const SignatureFunction& function, Signature signature, std::string name)
    : block_(std::move(block)),
      decoder_(codec.NewDecoder()),
      signing_(function.NewStream()),
      signature_(signature),
      name_(std::move(name)) {
  buffer_.Reserve(kPiece);
}

Error BlockSource::Corrupt(std::string_view what) const {
  return {ErrorCode::kCorrupt, fmt::format("{}: {}", name_, what)};
}

Result<std::size_t> BlockSource::Read(std::span<char> out) {
  if (error_) return *error_;
  if (finished_ || out.empty()) return std::size_t{0};
  Result<std::size_t> read = Decode(out);
  if (!read) error_ = read.error();
  return read;
}

Status BlockSource::Fill() {
  if (!in_.empty() || file_ended_) return {};
  buffer_.SetSize(kPiece);
  const Result<std::size_t> read = block_.file->ReadAt(offset_, {buffer_.data(), kPiece});
  if (!read) return read.error();
  in_ = buffer_.view().substr(0, *read);
  offset_ += *read;
  file_ended_ = *read < kPiece;
  return {};
}

Result<std::size_t> BlockSource::Decode(std::span<char> out) {
  while (!decoded_) {
    const Status filled = Fill();
    if (!filled) return filled.error();
    const Result<codec::Progress> step = decoder_->Decode(in_, out);
    if (!step) return Corrupt(step.error().text);
    const bool stuck = in_.empty() && step->produced == 0 && !step->done;
    in_.remove_prefix(step->consumed);
    decoded_ = step->done;
    if (stuck && file_ended_) return Corrupt("the block is cut off");
    produced_ += step->produced;
    if (produced_ > block_.header.size)
      return Corrupt("there is more content than its header says");
    if (step->produced > 0) {
      signing_->Update({out.data(), step->produced});
      return step->produced;
    }
  }
  const Status finished = Finish();
  if (!finished) return finished.error();
  finished_ = true;
  return std::size_t{0};
}

Status BlockSource::Finish() {
  const Status filled = Fill();
  if (!filled) return filled;
  if (!in_.empty()) return Corrupt("bytes follow the content");
  if (produced_ < block_.header.size) return Corrupt("there is less content than its header says");
  if (signing_->Finish() != signature_) return Corrupt("the content does not have its signature");
  return {};
}

Result<WrittenBlock> WriteBlockFile(io::FileSystem& fs, const std::string& path,
                                    const BlockHeader& header, codec::Encoder& encoder,
                                    const SignatureFunction& function, std::string_view prefix,
                                    io::Source& content, bool sync) {
  Result<std::unique_ptr<io::WritableFile>> file = fs.Create(path);
  if (!file) return file.error();
  const std::unique_ptr<SignatureStream> signing = function.NewStream();
  BlockWriter writer(**file, encoder);
  encoder.ExpectSize(header.size);
  std::uint64_t size = prefix.size();
  signing->Update(prefix);
  Status status = (*file)->Append(FormatBlockHeader(header));
  if (status) status = writer.Write(prefix, false);
  std::string piece(kPiece, '\0');
  while (status) {
    const Result<std::size_t> read = content.Read(piece);
    if (!read) status = read.error();
    if (!read || *read == 0) break;
    size += *read;
    if (size > header.size) {
      status = Error{ErrorCode::kInvalid, "the content is larger than the request says"};
      break;
    }
    const std::string_view bytes = std::string_view(piece).substr(0, *read);
    signing->Update(bytes);
    status = writer.Write(bytes, false);
  }
  if (status && size < header.size) {
    status = Error{ErrorCode::kInvalid, "the content is smaller than the request says"};
  }
  if (status) status = writer.Write({}, true);
  status = FinishFile(**file, status, sync);
  if (!status) return status.error();
  return WrittenBlock{kBlockHeaderSize + writer.written(), size, signing->Finish()};
}

Status WriteSmallBlockFile(io::FileSystem& fs, const std::string& path, const BlockHeader& header,
                           std::string_view compressed, bool sync) {
  Result<std::unique_ptr<io::WritableFile>> file = fs.Create(path);
  if (!file) return file.error();
  return FinishFile(**file, (*file)->Append(FormatBlockHeader(header).append(compressed)), sync);
}

}  // namespace stele::store
