#include "formats/warc/warc_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/gzip_codec.h"
#include "codec/gzip_member.h"
#include "codec/zstd_codec.h"
#include "util/ascii.h"

namespace stele::warc {
namespace {

// A record that is larger is compressed as it comes.
constexpr std::size_t kPendingBytesMax = 1 << 20;
constexpr std::size_t kPackedBytes = 256 * 1024;

Error EarlierFailure() {
  return {ErrorCode::kIo, "an earlier write failed, so the file takes no more records"};
}

}  // namespace

void FieldList::Set(std::string_view name, std::string_view value) {
  for (auto& field : fields_) {
    if (EqualsIgnoreCase(field.first, name)) {
      field.second = value;
      return;
    }
  }
  Add(name, value);
}

void FieldList::Remove(std::string_view name) {
  std::erase_if(fields_, [&](const auto& field) { return EqualsIgnoreCase(field.first, name); });
}

const std::string* FieldList::Find(std::string_view name) const {
  for (const auto& field : fields_) {
    if (EqualsIgnoreCase(field.first, name)) return &field.second;
  }
  return nullptr;
}

WarcWriter::WarcWriter(io::Sink& sink, WriterOptions options)
    : sink_(sink), options_(std::move(options)) {}

WarcWriter::~WarcWriter() = default;

Result<std::unique_ptr<WarcWriter>> WarcWriter::Create(io::Sink& sink, WriterOptions options) {
  std::unique_ptr<WarcWriter> writer(new WarcWriter(sink, std::move(options)));
  const WriterOptions& wanted = writer->options_;
  if (wanted.compression == record::Compression::kGzip) {
    writer->deflater_ = std::make_unique<codec::GzipMemberDeflater>(wanted.level);
    writer->encoder_ = codec::GzipCodec().NewEncoder(wanted.level);
  } else if (wanted.compression == record::Compression::kZstd && wanted.dictionary.empty()) {
    writer->encoder_ = codec::ZstdCodec().NewEncoder(wanted.level);
  } else if (wanted.compression == record::Compression::kZstd) {
    auto codec = codec::ZstdCodec::WithDictionary(wanted.dictionary);
    if (!codec) return codec.error();
    writer->encoder_ = (*codec)->NewEncoder(wanted.level);
    if (const Status written = writer->WriteDictionary(); !written) return written.error();
  }
  return writer;
}

Status WarcWriter::WriteDictionary() {
  std::string frame = "\x5d\x2a\x4d\x18";
  for (int i = 0; i < 4; ++i) frame += static_cast<char>(options_.dictionary.size() >> (8 * i));
  if (const Status written = Out(frame); !written) return written;
  return Out(options_.dictionary);
}

Result<record::Extent> WarcWriter::Write(const FieldList& fields, std::string_view block) {
  if (const Status begun = Begin(fields, block.size()); !begun) return begun.error();
  if (const Status put = Append(block); !put) return put.error();
  return End();
}

Status WarcWriter::Begin(const FieldList& fields, std::uint64_t content_length) {
  std::string head = "WARC/1.1\r\n";
  for (const auto& [name, value] : fields) {
    if (EqualsIgnoreCase(name, "Content-Length")) continue;
    if (name.empty() || name.find_first_of(":\r\n ") != std::string::npos ||
        value.find_first_of("\r\n") != std::string::npos) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("the field {} cannot be written: it has a line end in it, or a name "
                               "that is none",
                               name)};
    }
    head += name;
    head += ": ";
    head += value;
    head += "\r\n";
  }
  head += fmt::format("Content-Length: {}\r\n\r\n", content_length);
  return BeginCopy(head, content_length, "\r\n\r\n");
}

Status WarcWriter::BeginCopy(std::string_view head, std::uint64_t content_length,
                             std::string_view separator) {
  if (failed_) return EarlierFailure();
  Check(block_left_ == 0 && pending_.size() == 0);
  separator_ = separator;
  begin_ = offset_;
  block_left_ = content_length;
  in_pieces_ = false;
  record_bytes_ = head.size() + content_length + separator.size();
  return Put(head, false);
}

Status WarcWriter::Append(std::string_view piece) {
  Check(piece.size() <= block_left_);
  block_left_ -= piece.size();
  return Put(piece, false);
}

Result<record::Extent> WarcWriter::End() {
  Check(block_left_ == 0);
  if (const Status put = Put(separator_, true); !put) return put.error();
  record::Extent extent;
  extent.offset = begin_;
  extent.length = offset_ - begin_;
  extent.separator = encoder_ == nullptr ? separator_.size() : 0;
  return extent;
}

bool WarcWriter::Abandon() {
  if (failed_ || in_pieces_) return false;
  pending_.Clear();
  block_left_ = 0;
  return true;
}

Status WarcWriter::Put(std::string_view plain, bool last) {
  if (!in_pieces_ && pending_.size() + plain.size() <= kPendingBytesMax) {
    pending_.Append(plain);
    if (!last) return {};
    plain = {};
  }
  Status status;
  if (encoder_ == nullptr) {
    status = Out(pending_.view());
    if (status) status = Out(plain);
  } else if (last && !in_pieces_ && deflater_ != nullptr && plain.empty()) {
    deflater_->Deflate(pending_.view(), packed_);
    status = Out(packed_.view());
  } else {
    if (!in_pieces_) {
      encoder_->Reset();
      encoder_->ExpectSize(record_bytes_);
    }
    status = PutCompressed(pending_.view(), last && plain.empty());
    if (status && !plain.empty()) status = PutCompressed(plain, last);
  }
  pending_.Clear();
  in_pieces_ = !last;
  return status;
}

Status WarcWriter::PutCompressed(std::string_view plain, bool last) {
  packed_.Reserve(kPackedBytes);
  for (bool done = false; !done;) {
    Result<codec::Progress> step =
        encoder_->Encode(plain, {packed_.data(), packed_.capacity()}, last);
    if (!step) return step.error();
    plain.remove_prefix(step->consumed);
    if (const Status out = Out({packed_.data(), step->produced}); !out) return out;
    done = last ? step->done : plain.empty();
  }
  return {};
}

Status WarcWriter::Out(std::string_view bytes) {
  if (failed_) return EarlierFailure();
  const Status written = sink_.Write(bytes);
  failed_ = !written;
  offset_ += bytes.size();
  return written;
}

}  // namespace stele::warc
