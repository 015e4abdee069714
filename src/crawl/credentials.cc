#include "crawl/credentials.h"

#include <fmt/format.h>

#include <optional>

#include "util/ascii.h"
#include "util/base_encoding.h"

namespace stele::crawl {
namespace {

constexpr std::string_view kInstead = "[redacted]";

// The next word of `line`, which loses it.
std::string_view TakeWord(std::string_view& line) {
  line = TrimSpace(line);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

bool IsSecretField(std::string_view line) {
  return StartsWithIgnoreCase(line, "Authorization:") || StartsWithIgnoreCase(line, "Cookie:");
}

// "URL NAME=VALUE&..."; the URL must be of this host.
std::optional<LoginByForm> FormOf(std::string_view host, std::string_view words) {
  const Result<url::Url> page = url::Parse(TakeWord(words));
  const std::string_view fields = TrimSpace(words);
  if (!page || !page->is_http() || page->host() != host) return std::nullopt;
  if (fields.find('=') == std::string_view::npos) return std::nullopt;
  return LoginByForm{*page, std::string(fields)};
}

}  // namespace

Status Credentials::AddLogins(std::string_view text, const std::string& name) {
  int number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    line = TrimSpace(line);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string host = AsciiLower(TakeWord(line));
    const std::string kind = AsciiLower(TakeWord(line));
    const std::string_view secret = TrimSpace(line);
    if (!secret.empty() && kind == "basic" && secret.find(':') != std::string_view::npos) {
      logins_[host] = "Basic " + Base64Encode(secret);
    } else if (!secret.empty() && kind == "bearer") {
      logins_[host] = fmt::format("Bearer {}", secret);
    } else if (std::optional<LoginByForm> form = FormOf(host, secret); form && kind == "form") {
      forms_.push_back(*std::move(form));
    } else {
      return Error{ErrorCode::kInvalid,
                   fmt::format("{}:{}: write HOST basic USER:PASSWORD, HOST bearer TOKEN, or HOST "
                               "form URL NAME=VALUE&NAME=VALUE",
                               name, number)};
    }
  }
  return {};
}

void Credentials::AddCookies(std::string_view text, Timestamp now) {
  AddCookies(cookies::ParseCookiesTxt(text, now), now);
}

void Credentials::AddCookies(std::vector<cookies::Cookie> cookies, Timestamp now) {
  for (cookies::Cookie& cookie : cookies) {
    given_.Set(cookie, now);
    cookies_.push_back(std::move(cookie));
  }
}

std::string Credentials::AuthorizationFor(std::string_view host) const {
  const auto found = logins_.find(host);
  return found == logins_.end() ? std::string() : found->second;
}

bool Credentials::GoesTo(const cookies::Site& site, Timestamp now) const {
  return logins_.contains(site.host) || !given_.HeaderFor(site, now).empty();
}

std::string Redacted(std::string_view request) {
  std::string out;
  while (!request.empty()) {
    const std::size_t end = request.find("\r\n");
    const std::string_view line = request.substr(0, end);
    // The body follows the empty line.
    if (line.empty() || end == std::string_view::npos) return out.append(request);
    if (IsSecretField(line)) {
      out.append(line.substr(0, line.find(':') + 1)).append(" ").append(kInstead);
    } else {
      out.append(line);
    }
    out.append("\r\n");
    request.remove_prefix(end + 2);
  }
  return out;
}

}  // namespace stele::crawl
