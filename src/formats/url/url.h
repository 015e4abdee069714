#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/result.h"

// URLs as browsers read them: the WHATWG URL standard, for any scheme.
namespace stele::url {

class UrlParser;

// A parsed URL: its serialised text and where the parts are in it. Immutable; copying copies one
// string. All views point into the Url and live as long as it does, unmoved.
//
//   https://user:pass@example.com:1234/foo/bar?baz#quux
//        |      |     |          |    |       |   |
//        |      |     |          |    |       |   fragment_begin_ (size where there is none)
//        |      |     |          |    |       path_end_
//        |      |     |          |    path_begin_
//        |      |     |          host_end_
//        |      |     host_begin_
//        |      username_end_
//        scheme_end_
class Url {
 public:
  const std::string& href() const { return href_; }
  std::string_view href_without_fragment() const { return Part(0, fragment_begin_); }

  std::string_view scheme() const { return Part(0, scheme_end_); }  // lower case, without ':'
  std::string_view username() const { return Part(username_begin(), username_end_); }
  std::string_view password() const;

  // "http://" has a host, possibly empty (`file:///x`); `urn:x` has none.
  bool has_host() const { return has_host_; }
  // Domain, IPv4 address, IPv6 address in brackets, or opaque host; "" where there is none.
  std::string_view host() const { return Part(host_begin_, host_end_); }
  // With ":1234" where the port is not the scheme's own.
  std::string_view host_and_port() const;
  // Nothing where it is the scheme's own or the scheme has none.
  std::optional<std::uint16_t> port() const;
  // The port to connect to: port(), else the scheme's own, else nothing.
  std::optional<std::uint16_t> effective_port() const;

  std::string_view path() const { return Part(path_begin_, path_end_); }
  bool has_query() const { return path_end_ != fragment_begin_; }
  std::string_view query() const;  // without '?'
  bool has_fragment() const { return fragment_begin_ != href_.size(); }
  std::string_view fragment() const;  // without '#'
  // Path and query as a request line carries them: "/foo/bar?baz".
  std::string_view path_and_query() const { return Part(path_begin_, fragment_begin_); }

  // ftp, file, http, https, ws, wss.
  bool is_special() const { return special_; }
  bool is_http() const { return scheme() == "http" || scheme() == "https"; }
  // `urn:x`, `mailto:x`: nothing can be resolved against it but a fragment.
  bool has_opaque_path() const { return opaque_path_; }

  // "https://example.com:1234", or "null" where the standard makes it opaque. The origin of a
  // `blob:` URL is that of the http or https URL in its path.
  std::string origin() const;

  friend bool operator==(const Url& a, const Url& b) { return a.href_ == b.href_; }

 private:
  friend class UrlParser;
  Url() = default;

  std::string_view Part(std::size_t begin, std::size_t end) const {
    return std::string_view(href_).substr(begin, end - begin);
  }
  std::size_t username_begin() const { return scheme_end_ + (has_host_ ? 3 : 1); }

  std::string href_;
  std::uint32_t scheme_end_ = 0;
  std::uint32_t username_end_ = 0;
  std::uint32_t host_begin_ = 0;
  std::uint32_t host_end_ = 0;
  std::uint32_t path_begin_ = 0;
  std::uint32_t path_end_ = 0;
  std::uint32_t fragment_begin_ = 0;
  std::uint16_t port_ = 0;
  bool has_port_ = false;
  bool has_host_ = false;
  bool special_ = false;
  bool opaque_path_ = false;
};

// Input and base together; a longer one is refused.
inline constexpr std::size_t kMaxUrlBytes = std::size_t{64} << 20;

// Parses `input`, against `base` where one is given (`base` is only used during the call). The
// input is UTF-8; bytes that are not are percent-encoded one by one and are an error in a host.
// Safe to call from all threads. Parse(url.href()) gives the same Url again. Errors: kInvalid, for
// every input the standard fails on.
Result<Url> Parse(std::string_view input, const Url* base = nullptr);

// The port of a special scheme; nothing for other schemes and for file.
std::optional<std::uint16_t> DefaultPort(std::string_view scheme);

}  // namespace stele::url
