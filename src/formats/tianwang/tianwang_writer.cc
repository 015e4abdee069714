#include "formats/tianwang/tianwang_writer.h"

#include <fmt/format.h>

#include <array>

#include "codec/deflate_codec.h"
#include "formats/tianwang/tianwang_format.h"
#include "util/ascii.h"

namespace stele::tianwang {
namespace {

constexpr int kLevel = 6;

// A value that a reader gets back as it was.
Status CheckValue(std::string_view name, std::string_view value) {
  if (value.find_first_of("\r\n") != std::string_view::npos) {
    return Error{ErrorCode::kInvalid, fmt::format("{} has a line end in it", name)};
  }
  if (TrimSpace(value) != value) {
    return Error{ErrorCode::kInvalid, fmt::format("{} begins or ends with a space", name)};
  }
  return {};
}

Status CheckPage(const Page& page) {
  if (page.url.empty()) return Error{ErrorCode::kInvalid, "a page needs a url"};
  if (page.compress && page.unzip_length) {
    return Error{ErrorCode::kInvalid, "the data is compressed already"};
  }
  const std::array<std::pair<std::string_view, std::string_view>, 3> values = {
      {{kUrlName, page.url}, {kOriginName, page.origin}, {kIpName, page.ip}}};
  for (const auto& [name, value] : values) {
    if (Status good = CheckValue(name, value); !good) return good;
  }
  const std::optional<Timestamp> first = ParseDigits("0000");
  const std::optional<Timestamp> last = ParseDigits("99991231235959999");
  if (page.time < *first || page.time > *last) {
    return Error{ErrorCode::kInvalid, "the time has no year of four digits"};
  }
  return {};
}

void AddAttribute(std::string& head, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(head), "{}: {}\n", name, value);
}

std::string MakeHead(const Page& page, std::optional<std::uint64_t> unzip_length,
                     std::uint64_t length) {
  std::string head;
  AddAttribute(head, kVersionName, kVersion);
  AddAttribute(head, kUrlName, page.url);
  if (!page.origin.empty()) AddAttribute(head, kOriginName, page.origin);
  AddAttribute(head, kDateName, FormatHttpDate(page.time));
  if (!page.ip.empty()) AddAttribute(head, kIpName, page.ip);
  if (unzip_length) AddAttribute(head, kUnzipLengthName, fmt::format("{}", *unzip_length));
  AddAttribute(head, kLengthName, fmt::format("{}", length));
  head += '\n';
  return head;
}

}  // namespace

Result<record::Extent> Writer::Write(const Page& page) {
  Page stored = page;
  std::string compressed;
  if (page.compress && !page.unzip_length) {
    Result<std::string> stream = codec::DeflateCodec().Compress(page.data, kLevel);
    if (!stream) return stream.error();
    compressed = *std::move(stream);
    stored.unzip_length = page.data.size();
    stored.data = compressed;
    stored.compress = false;
  }
  if (const Status begun = Begin(stored, stored.data.size()); !begun) return begun.error();
  if (const Status put = Append(stored.data); !put) return put.error();
  return End();
}

Status Writer::Begin(const Page& page, std::uint64_t length) {
  Check(left_ == 0 || failed_);
  if (failed_) {
    return Error{ErrorCode::kIo, "an earlier record could not be written: begin a new file"};
  }
  if (const Status good = CheckPage(page); !good) return good;
  const std::string head = MakeHead(page, page.unzip_length, length);
  if (head.size() > kHeadBytesMax) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("the attributes have more than {} bytes", kHeadBytesMax)};
  }
  begin_ = offset_;
  left_ = length;
  return Out(head);
}

Status Writer::Append(std::string_view piece) {
  Check(piece.size() <= left_);
  left_ -= piece.size();
  return Out(piece);
}

Result<record::Extent> Writer::End() {
  Check(left_ == 0);
  if (const Status put = Out("\n"); !put) return put.error();
  return record::Extent{begin_, offset_ - begin_, 1};
}

Status Writer::Out(std::string_view bytes) {
  const Status written = sink_.Write(bytes);
  failed_ = failed_ || !written;
  offset_ += bytes.size();
  return written;
}

}  // namespace stele::tianwang
