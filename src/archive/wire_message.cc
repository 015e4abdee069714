#include "archive/wire_message.h"

#include <algorithm>

#include "formats/cdx/capture_rules.h"
#include "formats/record/payload.h"
#include "util/check.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;

template <std::size_t kSize>
std::array<char, kSize> Finish(Hasher& hasher) {
  const Digest digest = hasher.Finish();
  Check(digest.bytes().size() == kSize);
  std::array<char, kSize> bytes;
  std::copy(digest.bytes().begin(), digest.bytes().end(), bytes.begin());
  return bytes;
}

class PayloadDigester final : public record::PayloadSink {
 public:
  void OnPayload(std::string_view piece) override {
    length += piece.size();
    sha1.Update(piece);
    sha256.Update(piece);
  }

  std::uint64_t length = 0;
  Hasher sha1{DigestAlgorithm::kSha1};
  Hasher sha256{DigestAlgorithm::kSha256};
};

}  // namespace

WireMessage WireMessage::InMemory(std::string bytes) {
  WireMessage message;
  message.length_ = bytes.size();
  message.bytes_ = std::make_shared<const std::string>(std::move(bytes));
  return message;
}

WireMessage WireMessage::InFile(std::shared_ptr<const io::ReadableFile> file,
                                std::uint64_t length) {
  WireMessage message;
  message.length_ = length;
  message.file_ = std::move(file);
  return message;
}

Status WireMessage::Read(std::uint64_t length, const Take& take) const {
  Check(length <= length_);
  if (length == 0) return {};
  if (bytes_ != nullptr) return take(std::string_view(*bytes_).substr(0, length));
  std::string buffer(std::min<std::uint64_t>(kReadBytes, length), '\0');
  for (std::uint64_t offset = 0; offset < length;) {
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), length - offset);
    Result<std::size_t> read = file_->ReadAt(offset, std::span(buffer).first(wanted));
    if (!read) return read.error();
    if (*read == 0) {
      return Error{ErrorCode::kIo, "the file of a message is shorter than the message"};
    }
    if (const Status taken = take(std::string_view(buffer).substr(0, *read)); !taken) return taken;
    offset += *read;
  }
  return {};
}

Result<ResponseFacts> ExamineResponse(const WireMessage& response) {
  record::Record record;
  record.type = record::RecordType::kResponse;
  record.content_type = "application/http; msgtype=response";
  record::PayloadStream stream;
  stream.Begin(record);
  PayloadDigester payload;
  Hasher block(DigestAlgorithm::kSha1);
  const Status read = response.Read(response.size(), [&](std::string_view piece) -> Status {
    block.Update(piece);
    stream.Feed(piece, &payload);
    return {};
  });
  if (!read) return read.error();
  stream.Finish(&payload);

  ResponseFacts facts;
  facts.head_length = stream.head_length();
  facts.type = "unk";
  if (const http::ResponseHead* head = stream.response()) {
    if (head->status > 0) facts.status = static_cast<std::uint32_t>(head->status);
    facts.type = cdx::MimeOf(head->headers.Find("Content-Type").value_or(""));
    facts.etag = head->headers.Find("ETag").value_or("");
    facts.last_modified = head->headers.Find("Last-Modified").value_or("");
  }
  facts.payload_length = payload.length;
  facts.sha1 = Finish<20>(payload.sha1);
  facts.sha256 = Finish<32>(payload.sha256);
  facts.block_sha1 = Finish<20>(block);
  return facts;
}

}  // namespace stele::archive
