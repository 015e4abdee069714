// A head is strict: it begins with "version:", every line of it is an attribute, and a blank line
// ends it. So a head is given up at its first line that is none, and a search through garbage stays
// cheap.
#include "formats/tianwang/tianwang_grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codec/deflate_codec.h"
#include "codec/gzip_decoder.h"
#include "formats/tianwang/tianwang_format.h"
#include "util/ascii.h"

namespace stele::tianwang {
namespace {

using record::BlockCoding;
using record::Defect;
using record::Match;
using record::Record;
using record::RecordType;

constexpr std::string_view kMagic = "version:";
constexpr std::string_view kHttpResponse = "application/http; msgtype=response";
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kAttributesMax = 64;
constexpr std::size_t kVersionLineBytesMax = 64;

constexpr std::array<std::string_view, 7> kNames = {
    kVersionName, kUrlName, kOriginName, kDateName, kIpName, kUnzipLengthName, kLengthName};

struct Attribute {
  std::string_view name;
  std::string_view value;
};

// `line` without its line end.
std::optional<Attribute> ParseAttribute(std::string_view line) {
  const std::size_t colon = line.substr(0, kNameBytesMax + 1).find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view name = TrimSpace(line.substr(0, colon));
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return IsAsciiAlnum(c) || c == '-' || c == '_';
  });
  if (!is_name) return std::nullopt;
  return Attribute{name, TrimSpace(line.substr(colon + 1))};
}

std::string_view WithoutLineEnd(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool IsVersion(std::string_view text) {
  return text.size() == 3 && IsAsciiDigit(text[0]) && text[1] == '.' && IsAsciiDigit(text[2]);
}

// What a head says, besides the fields.
struct Head {
  bool has_url = false;
  bool has_date = false;
  bool has_length = false;
  bool length_is_last = false;
};

void ReadDate(std::string_view text, Record& record, std::vector<Defect>& defects) {
  record.date_text = text;
  record.date = ParseHttpDate(text);
  if (record.date) {
    record.date_text = record.AddMade("WARC-Date", FormatIso(*record.date));
  } else {
    defects.push_back(
        {"date", fmt::format("the date \"{}\" is not of RFC 822", text.substr(0, 60))});
  }
}

// Errors: kCorrupt for a length that is none, and for what stands twice because bytes were lost
// between two heads.
Status ReadAttribute(const Attribute& attribute, Head& head, Record& record,
                     std::vector<Defect>& defects) {
  const auto is = [&](std::string_view name) { return EqualsIgnoreCase(attribute.name, name); };
  head.length_is_last = is(kLengthName);
  if ((head.has_url && is(kUrlName)) || (head.has_date && is(kDateName)) ||
      (head.has_length && is(kLengthName))) {
    return Error{ErrorCode::kCorrupt, fmt::format("the head has two of {}", attribute.name)};
  }
  if (is(kUrlName)) {
    head.has_url = true;
    record.target_uri = attribute.value;
    record.fields.Add("WARC-Target-URI", attribute.value);
  } else if (is(kOriginName)) {
    record.fields.Add("Tianwang-Origin", attribute.value);
  } else if (is(kDateName)) {
    head.has_date = true;
    ReadDate(attribute.value, record, defects);
  } else if (is(kIpName)) {
    record.fields.Add("WARC-IP-Address", attribute.value);
  } else if (is(kUnzipLengthName)) {
    record.block_coding = BlockCoding::kDeflate;
    record.decoded_length = ParseDecimal(attribute.value);
    if (!record.decoded_length) {
      defects.push_back({"unzip-length", "unzip-length is not a number"});
    }
  } else if (is(kLengthName)) {
    const std::optional<std::uint64_t> length = ParseDecimal(attribute.value);
    if (!length) return Error{ErrorCode::kCorrupt, "the length is not a number"};
    head.has_length = true;
    record.content_length = *length;
    record.fields.Add("Content-Length", attribute.value);
  }
  return {};
}

void NameAttributeDefects(const Attribute& attribute, const Record& record,
                          std::vector<Defect>& defects) {
  if (std::any_of(attribute.name.begin(), attribute.name.end(), IsAsciiUpper)) {
    defects.push_back({"name-case", fmt::format("{} is not in lowercase", attribute.name)});
  }
  const bool known = std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return EqualsIgnoreCase(name, attribute.name);
  });
  if (!known) {
    defects.push_back(
        {"unknown-attribute", fmt::format("the format has no attribute {}", attribute.name)});
  }
  if (record.fields.Find(attribute.name)) {
    defects.push_back({"repeated", fmt::format("{} stands twice", attribute.name)});
  }
}

Status NameHeadDefects(const Head& head, const Record& record, std::vector<Defect>& defects) {
  if (!head.has_length) return Error{ErrorCode::kCorrupt, "the head has no length"};
  if (!head.has_url) return Error{ErrorCode::kCorrupt, "the head has no url"};
  if (!head.length_is_last) defects.push_back({"length-last", "length is not the last attribute"});
  if (!head.has_date) defects.push_back({"date", "the head has no date"});
  if (record.version != kVersion) {
    defects.push_back({"version", fmt::format("the version is {}, not 1.0", record.version)});
  }
  return {};
}

bool BeginsHttpResponse(std::string_view data) { return StartsWithIgnoreCase(data, "HTTP/"); }

// The first decompressed bytes, as far as `stored` goes.
std::string FirstBytes(std::string_view stored, BlockCoding coding) {
  std::unique_ptr<codec::Decoder> decoder;
  if (coding == BlockCoding::kGzip) {
    decoder = std::make_unique<codec::GzipDecoder>();
  } else {
    decoder = codec::DeflateCodec().NewDecoder();
  }
  std::array<char, 16> first;
  const Result<codec::Progress> step = decoder->Decode(stored, first);
  return step ? std::string(first.data(), step->produced) : std::string();
}

}  // namespace

Match TianwangGrammar::BeginsRecord(std::string_view bytes) const {
  const std::size_t shared = std::min(bytes.size(), kMagic.size());
  if (!EqualsIgnoreCase(bytes.substr(0, shared), kMagic.substr(0, shared))) return Match::kNo;
  const std::size_t end = bytes.substr(0, kVersionLineBytesMax).find('\n');
  if (end == std::string_view::npos) {
    return bytes.size() < kVersionLineBytesMax ? Match::kNeedMore : Match::kNo;
  }
  const std::string_view version = TrimSpace(bytes.substr(kMagic.size(), end - kMagic.size()));
  return IsVersion(version) ? Match::kYes : Match::kNo;
}

std::size_t TianwangGrammar::FindCandidate(std::string_view bytes, std::size_t from) const {
  const std::size_t found = bytes.find(kMagic, from);
  if (found != std::string_view::npos) return found;
  // A part of it that the end cuts off.
  for (std::size_t at = std::max(from, bytes.size() - std::min(bytes.size(), kMagic.size() - 1));
       at < bytes.size(); ++at) {
    if (kMagic.starts_with(bytes.substr(at))) return at;
  }
  return bytes.size();
}

Result<std::size_t> TianwangGrammar::HeadLength(std::string_view bytes) const {
  std::string_view rest = bytes.substr(0, kHeadBytesMax);
  for (std::size_t count = 0; count <= kAttributesMax; ++count) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      if (bytes.size() < kHeadBytesMax) return std::size_t{0};
      break;
    }
    const std::string_view line = WithoutLineEnd(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    if (line.empty()) return static_cast<std::size_t>(rest.data() - bytes.data());
    const std::optional<Attribute> attribute = ParseAttribute(line);
    if (!attribute || (count > 0 && EqualsIgnoreCase(attribute->name, kVersionName))) {
      return Error{ErrorCode::kCorrupt, "the head has a line that is no attribute"};
    }
  }
  return Error{ErrorCode::kCorrupt, "the head of the record is too long"};
}

Status TianwangGrammar::ParseHead(std::string_view bytes, Record& record,
                                  std::vector<Defect>& defects) {
  Head head;
  bool crlf = false;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view whole = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(whole.size() + 1, rest.size()));
    crlf |= whole.ends_with('\r');
    const std::string_view line = WithoutLineEnd(whole);
    if (line.empty()) break;
    const std::optional<Attribute> attribute = ParseAttribute(line);
    if (!attribute) return Error{ErrorCode::kCorrupt, "the head has a line that is no attribute"};
    if (record.fields.fields().empty()) {
      if (!EqualsIgnoreCase(attribute->name, kVersionName)) {
        return Error{ErrorCode::kCorrupt, "the head does not begin with its version"};
      }
      record.version = attribute->value;
    }
    NameAttributeDefects(*attribute, record, defects);
    record.fields.Add(attribute->name, attribute->value);
    if (Status read = ReadAttribute(*attribute, head, record, defects); !read) return read;
  }
  if (crlf) defects.push_back({"crlf", "lines of the head end in CR LF, not LF"});
  return NameHeadDefects(head, record, defects);
}

void TianwangGrammar::Classify(std::string_view block_begin, Record& record) const {
  bool is_response = false;
  if (record.block_coding == BlockCoding::kNone) {
    is_response = BeginsHttpResponse(block_begin);
  } else {
    if (block_begin.starts_with("\x1f\x8b")) record.block_coding = BlockCoding::kGzip;
    is_response = BeginsHttpResponse(FirstBytes(block_begin, record.block_coding));
  }
  record.type = is_response ? RecordType::kResponse : RecordType::kResource;
  record.type_name = record::RecordTypeName(record.type);
  record.fields.Add("WARC-Type", record.type_name);
  if (is_response) {
    record.content_type = kHttpResponse;
    record.fields.Add("Content-Type", kHttpResponse);
  }
}

std::size_t TianwangGrammar::SeparatorLength(std::string_view bytes,
                                             std::vector<Defect>* defects) const {
  const std::size_t limit = std::min(bytes.size(), record::kSeparatorBytesMax);
  std::size_t length = 0;
  while (length < limit && (bytes[length] == '\r' || bytes[length] == '\n')) ++length;
  if (defects != nullptr && bytes.substr(0, length) != "\n") {
    defects->push_back(
        {"separator", fmt::format("{} bytes of line ends follow the data instead of LF", length)});
  }
  return length;
}

}  // namespace stele::tianwang
