#include "formats/url/url_parser.h"

#include <charconv>

#include "formats/url/host.h"
#include "formats/url/percent.h"
#include "util/ascii.h"

namespace stele::url {
namespace {

bool IsTabOrNewline(char c) { return c == '\t' || c == '\n' || c == '\r'; }
bool IsC0OrSpace(char c) { return static_cast<unsigned char>(c) <= 0x20; }

bool IsSchemeByte(char c) { return IsAsciiAlnum(c) || c == '+' || c == '-' || c == '.'; }

bool IsSingleDot(std::string_view segment) {
  return segment == "." || EqualsIgnoreCase(segment, "%2e");
}

bool IsDoubleDot(std::string_view segment) {
  switch (segment.size()) {
    case 2:
      return segment == "..";
    case 4:
      return EqualsIgnoreCase(segment, ".%2e") || EqualsIgnoreCase(segment, "%2e.");
    case 6:
      return EqualsIgnoreCase(segment, "%2e%2e");
    default:
      return false;
  }
}

bool IsDriveLetter(std::string_view text) {
  return text.size() == 2 && IsAsciiAlpha(text[0]) && (text[1] == ':' || text[1] == '|');
}

// "C:" or "C|" and then the end, a slash, '?' or '#'.
bool StartsWithDriveLetter(std::string_view text) {
  if (!IsDriveLetter(text.substr(0, 2))) return false;
  return text.size() == 2 || std::string_view("/\\?#").find(text[2]) != std::string_view::npos;
}

// A whole path that is one normalised drive letter: "/C:".
bool IsDrivePath(std::string_view path) {
  return path.size() == 3 && path[0] == '/' && IsAsciiAlpha(path[1]) && path[2] == ':';
}

}  // namespace

SchemeKind KindOfScheme(std::string_view scheme) {
  switch (scheme.size()) {
    case 2:
      return scheme == "ws" ? SchemeKind::kWs : SchemeKind::kOther;
    case 3:
      if (scheme == "wss") return SchemeKind::kWss;
      return scheme == "ftp" ? SchemeKind::kFtp : SchemeKind::kOther;
    case 4:
      if (scheme == "http") return SchemeKind::kHttp;
      return scheme == "file" ? SchemeKind::kFile : SchemeKind::kOther;
    case 5:
      return scheme == "https" ? SchemeKind::kHttps : SchemeKind::kOther;
    default:
      return SchemeKind::kOther;
  }
}

Result<Url> UrlParser::Run(std::string_view input) {
  while (!input.empty() && IsC0OrSpace(input.front())) input.remove_prefix(1);
  while (!input.empty() && IsC0OrSpace(input.back())) input.remove_suffix(1);
  std::string cleaned;
  for (char c : input) {
    if (!IsTabOrNewline(c)) continue;
    cleaned.reserve(input.size());
    for (char kept : input) {
      if (!IsTabOrNewline(kept)) cleaned.push_back(kept);
    }
    input = cleaned;
    break;
  }
  in_ = input;
  if (ParseTrimmed()) return std::move(url_);
  std::string text = "not a URL (";
  text += reason_;
  text += "): ";
  text += input.substr(0, 200);
  return Error{ErrorCode::kInvalid, std::move(text)};
}

bool UrlParser::Fail(const char* reason) {
  reason_ = reason;
  return false;
}

bool UrlParser::ParseTrimmed() {
  url_.href_.reserve(in_.size() + (base_ != nullptr ? base_->href_.size() : 0) + 8);
  if (!in_.empty() && IsAsciiAlpha(in_[0])) {
    std::size_t end = 1;
    while (end < in_.size() && IsSchemeByte(in_[end])) ++end;
    if (end < in_.size() && in_[end] == ':') {
      SetScheme(in_.substr(0, end));
      at_ = end + 1;
      return ParseAfterScheme();
    }
  }
  if (base_ == nullptr) return Fail("no scheme, and no base to resolve against");
  if (base_->opaque_path_) {
    if (Peek() != '#') return Fail("the base has an opaque path");
    url_ = *base_;
    url_.href_.resize(base_->fragment_begin_);
    kind_ = KindOfScheme(url_.scheme());
    ParseQueryAndFragment();
    return true;
  }
  SetScheme(base_->scheme());
  return kind_ == SchemeKind::kFile ? ParseFile() : ParseRelative();
}

void UrlParser::SetScheme(std::string_view scheme) {
  for (char c : scheme) url_.href_.push_back(ToAsciiLower(c));
  kind_ = KindOfScheme(url_.href_);
  url_.special_ = special();
  url_.scheme_end_ = Here();
  url_.href_.push_back(':');
  url_.username_end_ = url_.host_begin_ = url_.host_end_ = url_.path_begin_ = Here();
}

bool UrlParser::ParseAfterScheme() {
  if (kind_ == SchemeKind::kFile) return ParseFile();
  if (special()) {
    const bool relative =
        base_ != nullptr && base_->scheme() == url_.scheme() && !(Peek() == '/' && Peek(1) == '/');
    if (relative) return ParseRelative();
    while (Peek() == '/' || Peek() == '\\') ++at_;
    return ParseAuthority();
  }
  if (Peek() != '/') {
    ParseOpaquePath();
    return true;
  }
  ++at_;
  if (Peek() == '/') {
    ++at_;
    return ParseAuthority();
  }
  ParsePath();
  return true;
}

bool UrlParser::ParseRelative() {
  if (IsSlash(Peek())) {
    ++at_;
    if (special() && IsSlash(Peek())) {
      while (IsSlash(Peek())) ++at_;
      return ParseAuthority();
    }
    if (Peek() == '/') {
      ++at_;
      return ParseAuthority();
    }
    CopyAuthorityFromBase();
    ParsePath();
    return true;
  }
  CopyAuthorityFromBase();
  url_.href_ += base_->path();
  if (!AtEnd() && Peek() != '?' && Peek() != '#') {
    ShortenPath();
    ParsePath();
    return true;
  }
  FinishPath();
  if (Peek() != '?') url_.href_ += base_->Part(base_->path_end_, base_->fragment_begin_);
  ParseQueryAndFragment();
  return true;
}

void UrlParser::CopyAuthorityFromBase() {
  if (!base_->has_host_) return;
  url_.href_.assign(base_->href_, 0, base_->path_begin_);
  url_.has_host_ = true;
  url_.username_end_ = base_->username_end_;
  url_.host_begin_ = base_->host_begin_;
  url_.host_end_ = base_->host_end_;
  url_.has_port_ = base_->has_port_;
  url_.port_ = base_->port_;
  url_.path_begin_ = Here();
}

void UrlParser::BeginHost() {
  url_.href_ += "//";
  url_.has_host_ = true;
  url_.username_end_ = url_.host_begin_ = url_.host_end_ = Here();
}

void UrlParser::EndHost() { url_.path_begin_ = Here(); }

bool UrlParser::ParseFile() {
  const bool from_base = base_ != nullptr && base_->scheme() == "file";
  if (IsSlash(Peek())) {
    ++at_;
    if (IsSlash(Peek())) {
      ++at_;
      return ParseFileHost();
    }
    BeginHost();
    if (from_base) url_.href_ += base_->host();
    url_.host_end_ = Here();
    EndHost();
    if (from_base && !StartsWithDriveLetter(in_.substr(at_)) &&
        IsDrivePath(base_->path().substr(0, 3)) &&
        (base_->path().size() == 3 || base_->path()[3] == '/')) {
      url_.href_ += base_->path().substr(0, 3);
    }
    ParsePath();
    return true;
  }
  if (!from_base) {
    BeginHost();
    EndHost();
    ParsePath();
    return true;
  }
  if (AtEnd() || Peek() == '?' || Peek() == '#') return ParseRelative();
  CopyAuthorityFromBase();
  if (!StartsWithDriveLetter(in_.substr(at_))) {
    url_.href_ += base_->path();
    ShortenPath();
  }
  ParsePath();
  return true;
}

bool UrlParser::ParseFileHost() {
  std::size_t end = at_;
  while (end < in_.size() && !IsSlash(in_[end]) && in_[end] != '?' && in_[end] != '#') ++end;
  const std::string_view text = in_.substr(at_, end - at_);
  BeginHost();
  if (IsDriveLetter(text)) {
    EndHost();
    ParsePath();
    return true;
  }
  if (!text.empty()) {
    if (!AppendHost(url_.href_, text, true)) return Fail("invalid host");
    const std::string_view host = std::string_view(url_.href_).substr(url_.host_begin_);
    if (host == "localhost") url_.href_.resize(url_.host_begin_);
    url_.host_end_ = Here();
  }
  EndHost();
  at_ = end;
  ParsePathStart();
  return true;
}

bool UrlParser::ParseAuthority() {
  std::size_t end = at_;
  std::size_t at_sign = std::string_view::npos;
  for (; end < in_.size(); ++end) {
    const char c = in_[end];
    if (IsSlash(c) || c == '?' || c == '#') break;
    if (c == '@') at_sign = end;
  }
  BeginHost();
  std::string_view host = in_.substr(at_, end - at_);
  if (at_sign != std::string_view::npos) {
    ParseCredentials(in_.substr(at_, at_sign - at_));
    host = in_.substr(at_sign + 1, end - at_sign - 1);
    if (host.empty()) return Fail("no host after the credentials");
  }
  url_.host_begin_ = Here();
  if (!ParseHostAndPort(host)) return false;
  EndHost();
  at_ = end;
  ParsePathStart();
  return true;
}

void UrlParser::ParseCredentials(std::string_view text) {
  const std::size_t colon = text.find(':');
  AppendPercentEncoded(url_.href_, text.substr(0, colon), EncodeSet::kUserinfo);
  url_.username_end_ = Here();
  if (colon != std::string_view::npos && colon + 1 < text.size()) {
    url_.href_.push_back(':');
    AppendPercentEncoded(url_.href_, text.substr(colon + 1), EncodeSet::kUserinfo);
  }
  if (Here() > url_.host_begin_) url_.href_.push_back('@');
}

bool UrlParser::ParseHostAndPort(std::string_view text) {
  std::size_t colon = std::string_view::npos;
  bool in_brackets = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') in_brackets = true;
    if (text[i] == ']') in_brackets = false;
    if (text[i] == ':' && !in_brackets) {
      colon = i;
      break;
    }
  }
  const std::string_view host = text.substr(0, colon);
  if (host.empty() && (special() || colon != std::string_view::npos)) return Fail("no host");
  if (!host.empty() && !AppendHost(url_.href_, host, special())) return Fail("invalid host");
  url_.host_end_ = Here();
  return colon == std::string_view::npos || ParsePort(text.substr(colon + 1));
}

bool UrlParser::ParsePort(std::string_view digits) {
  if (digits.empty()) return true;
  unsigned value = 0;
  for (char c : digits) {
    if (!IsAsciiDigit(c)) return Fail("invalid port");
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 65535) return Fail("port above 65535");
  }
  if (DefaultPort(url_.scheme()) == value) return true;
  url_.has_port_ = true;
  url_.port_ = static_cast<std::uint16_t>(value);
  char text[6] = {':'};
  const auto end = std::to_chars(text + 1, text + 6, value).ptr;
  url_.href_.append(text, end);
  return true;
}

void UrlParser::ParsePathStart() {
  if (IsSlash(Peek())) {
    ++at_;
    ParsePath();
  } else if (special()) {
    ParsePath();
  } else {
    FinishPath();
    ParseQueryAndFragment();
  }
}

// The segments from here on, each written as '/' and its text, below what is already in the path.
void UrlParser::ParsePath() {
  for (;;) {
    std::size_t end = at_;
    while (end < in_.size() && !IsSlash(in_[end]) && in_[end] != '?' && in_[end] != '#') ++end;
    const bool last = end == in_.size() || !IsSlash(in_[end]);
    AppendSegment(in_.substr(at_, end - at_), last);
    at_ = end;
    if (last) break;
    ++at_;
  }
  FinishPath();
  ParseQueryAndFragment();
}

void UrlParser::AppendSegment(std::string_view segment, bool last) {
  const bool may_be_dots = !segment.empty() && (segment[0] == '.' || segment[0] == '%');
  if (may_be_dots && IsDoubleDot(segment)) {
    ShortenPath();
    if (last) url_.href_.push_back('/');
    return;
  }
  if (may_be_dots && IsSingleDot(segment)) {
    if (last) url_.href_.push_back('/');
    return;
  }
  const bool drive = kind_ == SchemeKind::kFile && Path().empty() && IsDriveLetter(segment);
  url_.href_.push_back('/');
  AppendPercentEncoded(url_.href_, segment, EncodeSet::kPath);
  if (drive) url_.href_.back() = ':';
}

void UrlParser::ShortenPath() {
  const std::string_view path = Path();
  if (path.empty() || (kind_ == SchemeKind::kFile && IsDrivePath(path))) return;
  url_.href_.resize(url_.path_begin_ + path.rfind('/'));
}

void UrlParser::ParseOpaquePath() {
  url_.opaque_path_ = true;
  const std::size_t end = std::min(in_.find_first_of("?#", at_), in_.size());
  const std::string_view path = in_.substr(at_, end - at_);
  AppendPercentEncoded(url_.href_, path, EncodeSet::kC0Control);
  // A space before '?' or '#' would be lost with what follows it; it is kept as an escape.
  if (end < in_.size() && path.ends_with(' ')) {
    url_.href_.pop_back();
    url_.href_ += "%20";
  }
  at_ = end;
  FinishPath();
  ParseQueryAndFragment();
}

void UrlParser::FinishPath() {
  // "web+demo:/.//not-a-host": without the "/." the path would read as a host.
  if (!url_.has_host_ && !url_.opaque_path_ && Path().starts_with("//")) {
    url_.href_.insert(url_.path_begin_, "/.");
    url_.path_begin_ += 2;
  }
  url_.path_end_ = Here();
}

void UrlParser::ParseQueryAndFragment() {
  if (Peek() == '?' && !AtEnd()) {
    const std::size_t end = std::min(in_.find('#', at_), in_.size());
    url_.href_.push_back('?');
    AppendPercentEncoded(url_.href_, in_.substr(at_ + 1, end - at_ - 1),
                         special() ? EncodeSet::kSpecialQuery : EncodeSet::kQuery);
    at_ = end;
  }
  url_.fragment_begin_ = Here();
  if (AtEnd()) return;
  url_.href_.push_back('#');
  AppendPercentEncoded(url_.href_, in_.substr(at_ + 1), EncodeSet::kFragment);
}

}  // namespace stele::url
