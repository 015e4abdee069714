#include "store/remote/remote_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "codec/gzip_member.h"
#include "store/packed_content.h"
#include "store/remote/wire.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::uint64_t kSmallBytesMax = 1 << 20;
constexpr std::uint64_t kSizeMax = std::numeric_limits<std::uint64_t>::max();

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
  const codec::Codec* codec = WireCodec(content->coding_);
  if (codec == nullptr && content->coding_ != "identity") {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: the server compressed it with {}", where, content->coding_)};
  }
  content->response_ = std::move(response);
  if (codec != nullptr && (!content->small_ || content->coding_ != "gzip")) {
    const std::uint64_t size_max = content->size_.value_or(kSizeMax);
    content->decoded_.emplace(*content->response_, *codec, size_max);
  }
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
    // What DecodedSource finds invalid is the server's fault.
    const bool bad = read.error().code == ErrorCode::kInvalid;
    failure_ = Error{bad ? ErrorCode::kCorrupt : read.error().code,
                     fmt::format("{}: {}", where_, read.error().text)};
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
  const Result<std::size_t> read = decoded_ ? decoded_->Read(out) : response_->Read(out);
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

Status RemoteContent::LoadWhole() {
  const auto size = static_cast<std::size_t>(*size_);
  if (coding_ == "gzip") {
    const Result<std::string> packed = response_->ReadAll(kSmallBytesMax);
    if (!packed) return packed.error();
    codec::GzipMemberInflater inflater;
    const auto inflated = inflater.Inflate(*packed, size, whole_);
    if (!inflated) return inflated.error();
    const bool all = inflated->kind == codec::GzipMemberInflater::Kind::kDone &&
                     inflated->consumed == packed->size();
    if (!all) return Corrupt("the compressed content is longer or shorter than the server said");
  } else {
    io::Source& source = decoded_ ? static_cast<io::Source&>(*decoded_) : *response_;
    whole_.Reserve(size + 1);  // one byte more shows that there are too many
    for (;;) {
      const Result<std::size_t> read =
          source.Read(std::span(whole_.data() + whole_.size(), size + 1 - whole_.size()));
      if (!read) return read.error();
      if (*read == 0) break;
      whole_.SetSize(whole_.size() + *read);
    }
  }
  if (whole_.size() != size) return Corrupt("the server sent more or less than it said");
  whole_left_ = whole_.view();
  return wanted_ ? Verify(function_->Of(whole_left_)) : Status();
}

}  // namespace stele::store
