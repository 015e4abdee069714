#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/url/url.h"

// The parser behind Parse(); nothing else includes this.
namespace stele::url {

enum class SchemeKind : std::uint8_t { kOther, kHttp, kHttps, kWs, kWss, kFtp, kFile };

// `scheme` is in lower case.
SchemeKind KindOfScheme(std::string_view scheme);

// Builds one Url. The states of the standard are functions here: each takes what follows in the
// input and writes the serialised form at once, so that nothing is parsed into parts and joined
// again.
class UrlParser {
 public:
  explicit UrlParser(const Url* base) : base_(base) {}
  Result<Url> Run(std::string_view input);

 private:
  bool ParseTrimmed();
  bool ParseAfterScheme();
  bool ParseRelative();
  bool ParseFile();
  bool ParseFileHost();
  bool ParseAuthority();
  bool ParseHostAndPort(std::string_view text);
  bool ParsePort(std::string_view digits);
  void ParseCredentials(std::string_view text);
  void ParsePathStart();
  void ParsePath();
  void AppendSegment(std::string_view segment, bool last);
  void ParseOpaquePath();
  void FinishPath();
  void ParseQueryAndFragment();

  void SetScheme(std::string_view scheme);
  void BeginHost();
  void EndHost();
  void CopyAuthorityFromBase();
  void ShortenPath();
  bool Fail(const char* reason);

  bool special() const { return kind_ != SchemeKind::kOther; }
  bool IsSlash(char c) const { return c == '/' || (c == '\\' && special()); }
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0';
  }
  bool AtEnd() const { return at_ >= in_.size(); }
  std::string_view Path() const { return std::string_view(url_.href_).substr(url_.path_begin_); }
  std::uint32_t Here() const { return static_cast<std::uint32_t>(url_.href_.size()); }

  const Url* base_;
  Url url_;
  std::string_view in_;
  std::size_t at_ = 0;
  SchemeKind kind_ = SchemeKind::kOther;
  const char* reason_ = "";
};

}  // namespace stele::url
