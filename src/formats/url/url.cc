#include "formats/url/url.h"

#include "formats/url/url_parser.h"

namespace stele::url {

std::string_view Url::password() const {
  if (username_end_ == host_begin_ || href_[username_end_] != ':') return {};
  return Part(username_end_ + 1, host_begin_ - 1);
}

std::string_view Url::host_and_port() const {
  return has_port_ ? Part(host_begin_, path_begin_) : host();
}

std::optional<std::uint16_t> Url::port() const {
  return has_port_ ? std::optional(port_) : std::nullopt;
}

std::optional<std::uint16_t> Url::effective_port() const {
  return has_port_ ? std::optional(port_) : DefaultPort(scheme());
}

std::string_view Url::query() const {
  return has_query() ? Part(path_end_ + 1, fragment_begin_) : std::string_view{};
}

std::string_view Url::fragment() const {
  return has_fragment() ? Part(fragment_begin_ + 1, href_.size()) : std::string_view{};
}

std::string Url::origin() const {
  if (scheme() == "blob") {
    const Result<Url> inner = Parse(path());
    if (inner && inner->is_http()) return inner->origin();
    return "null";
  }
  if (!special_ || scheme() == "file") return "null";
  std::string out(scheme());
  out += "://";
  out += host_and_port();
  return out;
}

Result<Url> Parse(std::string_view input, const Url* base) {
  const std::size_t base_size = base != nullptr ? base->href().size() : 0;
  if (input.size() > kMaxUrlBytes || base_size > kMaxUrlBytes - input.size()) {
    return Error{ErrorCode::kInvalid, "URL longer than 64 MiB"};
  }
  return UrlParser(base).Run(input);
}

std::optional<std::uint16_t> DefaultPort(std::string_view scheme) {
  switch (KindOfScheme(scheme)) {
    case SchemeKind::kHttp:
    case SchemeKind::kWs:
      return std::uint16_t{80};
    case SchemeKind::kHttps:
    case SchemeKind::kWss:
      return std::uint16_t{443};
    case SchemeKind::kFtp:
      return std::uint16_t{21};
    case SchemeKind::kFile:
    case SchemeKind::kOther:
      break;
  }
  return std::nullopt;
}

}  // namespace stele::url
