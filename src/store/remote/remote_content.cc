#include "store/remote/remote_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/gzip_member.h"
#include "codec/registry.h"
#include "store/remote/wire.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::uint64_t kSmallBytesMax = 1 << 20;
constexpr std::size_t kPieceBytes = 64 << 10;

Error Corrupt(std::string_view what) { return {ErrorCode::kCorrupt, std::string(what)}; }

std::optional<std::uint64_t> NumberIn(const net::ClientResponse& response, std::string_view name) {
  const auto text = response.head().headers.Find(name);
  return text ? ParseDecimal(*text) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<io::Source>> RemoteContent::Open(
    std::unique_ptr<net::ClientResponse> response, std::string where, const ContentKey& key,
    std::shared_ptr<const SignatureFunction> function) {
  std::unique_ptr<RemoteContent> content(new RemoteContent());
  const std::optional<std::uint64_t> length = NumberIn(*response, "Content-Length");
  content->coding_ = response->head().headers.Find("Content-Encoding").value_or("identity");
  content->size_ =
      content->coding_ == "identity" ? length : NumberIn(*response, wire::kContentSizeHeader);
  content->small_ =
      length && *length <= kSmallBytesMax && content->size_ && *content->size_ <= kSmallBytesMax;
  if (content->coding_ != "identity") {
    static const codec::Registry registry = codec::StandardRegistry();
    const codec::Codec* codec = registry.Find(content->coding_);
    const bool asked_for = content->coding_ == "gzip" || content->coding_ == "zstd";
    if (codec == nullptr || !asked_for) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("{}: the server compressed it with {}", where, content->coding_)};
    }
    if (!content->small_ || content->coding_ != "gzip") content->decoder_ = codec->NewDecoder();
  }
  content->response_ = std::move(response);
  content->where_ = std::move(where);
  content->function_ = std::move(function);
  if (content->function_->size() == key.signature.bytes().size()) {
    content->wanted_ = key.signature;
    if (!content->small_) content->signing_ = content->function_->NewStream();
  }
  return std::unique_ptr<io::Source>(std::move(content));
}

Result<std::size_t> RemoteContent::Read(std::span<char> out) {
  if (failure_) return *failure_;
  if (ended_ || out.empty()) return std::size_t{0};
  Result<std::size_t> read = ReadPlain(out);
  if (!read) {
    failure_ = Error{read.error().code, fmt::format("{}: {}", where_, read.error().text)};
    return *failure_;
  }
  ended_ = *read == 0;
  return read;
}

Status RemoteContent::Verify(const Signature& signature) const {
  if (!wanted_ || signature == *wanted_) return {};
  return Corrupt("the server sent other bytes than were stored");
}

Result<std::size_t> RemoteContent::ReadPlain(std::span<char> out) {
  if (small_) {
    if (!std::exchange(loaded_, true)) {
      const Status loaded = LoadWhole();
      if (!loaded) return loaded.error();
    }
    const std::size_t size = std::min(out.size(), whole_left_.size());
    std::copy_n(whole_left_.data(), size, out.data());
    whole_left_.remove_prefix(size);
    return size;
  }
  const Result<std::size_t> read = decoder_ == nullptr ? response_->Read(out) : Decode(out);
  if (!read) return read;
  produced_ += *read;
  if (size_ && produced_ > *size_) return Corrupt("the server sent more than it said");
  if (*read > 0) {
    if (signing_ != nullptr) signing_->Update(std::string_view(out.data(), *read));
    return read;
  }
  if (size_ && produced_ < *size_) return Corrupt("the server sent less than it said");
  if (signing_ == nullptr) return read;
  const Status verified = Verify(signing_->Finish());
  if (!verified) return verified.error();
  return read;
}

// Nothing after the end of the compressed stream, and nothing missing.
Result<std::size_t> RemoteContent::Decode(std::span<char> out) {
  for (;;) {
    if (packed_left_.empty() && !packed_ended_) {
      packed_.resize(kPieceBytes);
      const Result<std::size_t> read = response_->Read(packed_);
      if (!read) return read;
      packed_ended_ = *read == 0;
      packed_left_ = std::string_view(packed_).substr(0, *read);
    }
    if (decoded_) {
      if (!packed_left_.empty()) return Corrupt("bytes follow the compressed content");
      if (packed_ended_) return std::size_t{0};
      continue;
    }
    const Result<codec::Progress> step = decoder_->Decode(packed_left_, out);
    if (!step) return step.error();
    if (packed_ended_ && step->produced == 0 && !step->done) {
      return Corrupt("the compressed content is cut off");
    }
    packed_left_.remove_prefix(step->consumed);
    decoded_ = step->done;
    if (step->produced > 0) return step->produced;
  }
}

Status RemoteContent::LoadWhole() {
  const Result<std::string> packed = response_->ReadAll(kSmallBytesMax);
  if (!packed) return packed.error();
  const auto size = static_cast<std::size_t>(*size_);
  if (coding_ == "gzip") {
    codec::GzipMemberInflater inflater;
    const auto inflated = inflater.Inflate(*packed, size, whole_);
    if (!inflated) return inflated.error();
    const bool all = inflated->kind == codec::GzipMemberInflater::Kind::kDone &&
                     inflated->consumed == packed->size();
    if (!all) return Corrupt("the compressed content is longer or shorter than the server said");
  } else if (decoder_ != nullptr) {
    whole_.Reserve(size + 1);  // one byte more shows that there are too many
    const Result<codec::Progress> step =
        decoder_->Decode(*packed, std::span(whole_.data(), size + 1));
    if (!step) return step.error();
    if (!step->done || step->consumed != packed->size()) {
      return Corrupt("the compressed content is longer or shorter than the server said");
    }
    whole_.SetSize(step->produced);
  } else {
    whole_.Append(*packed);
  }
  if (whole_.size() != size) return Corrupt("the server sent less than it said");
  whole_left_ = whole_.view();
  return wanted_ ? Verify(function_->Of(whole_left_)) : Status();
}

}  // namespace stele::store
