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

std::string PlaceOf(std::string_view host, std::uint16_t port) {
  return fmt::format("{}:{}", host, port);
}

// "URL NAME=VALUE&..."; the URL must be of this host or place.
std::optional<LoginByForm> FormOf(std::string_view place, std::string_view words) {
  const Result<url::Url> page = url::Parse(TakeWord(words));
  const std::string_view fields = TrimSpace(words);
  if (!page || !page->is_http()) return std::nullopt;
  const bool is_there =
      place == page->host() || place == PlaceOf(page->host(), *page->effective_port());
  if (!is_there) return std::nullopt;
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
    const std::string place = AsciiLower(TakeWord(line));
    const std::string kind = AsciiLower(TakeWord(line));
    const std::string_view secret = TrimSpace(line);
    if (!secret.empty() && kind == "basic" && secret.find(':') != std::string_view::npos) {
      logins_[place] = "Basic " + Base64Encode(secret);
    } else if (!secret.empty() && kind == "bearer") {
      logins_[place] = fmt::format("Bearer {}", secret);
    } else if (std::optional<LoginByForm> form = FormOf(place, secret); form && kind == "form") {
      forms_.push_back(*std::move(form));
    } else {
      return Error{ErrorCode::kInvalid,
                   fmt::format("{}:{}: write HOST basic USER:PASSWORD, HOST bearer TOKEN, or HOST "
                               "form URL NAME=VALUE&NAME=VALUE; HOST may be HOST:PORT",
                               name, number)};
    }
  }
  return {};
}

void Credentials::AddSeed(const url::Url& seed) {
  const std::string place = PlaceOf(seed.host(), *seed.effective_port());
  seed_places_.insert(place);
  if (seed.scheme() != "https") return;
  https_seeds_.insert(place);
  https_seeds_.emplace(seed.host());
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

const std::string* Credentials::Login(std::string_view place) const {
  const auto found = logins_.find(place);
  return found == logins_.end() ? nullptr : &found->second;
}

std::string Credentials::AuthorizationFor(const url::Url& url) const {
  if (logins_.empty()) return "";
  const std::string place = PlaceOf(url.host(), *url.effective_port());
  const std::string host(url.host());
  const bool is_of_place = Login(place) != nullptr;
  const bool is_of_host = !url.port() || seed_places_.contains(place);
  if (!is_of_place && !is_of_host) return "";
  const std::string& name = is_of_place ? place : host;
  if (url.scheme() != "https" && https_seeds_.contains(name)) return "";
  const std::string* login = Login(name);
  return login != nullptr ? *login : "";
}

std::string Credentials::AuthorizationForProxy(std::string_view host, std::uint16_t port) const {
  const std::string* login = Login(PlaceOf(host, port));
  if (login == nullptr) login = Login(host);
  return login != nullptr ? *login : "";
}

bool Credentials::GoesTo(const url::Url& url, Timestamp now) const {
  const cookies::Site site{url.host(), url.path(), url.scheme() == "https"};
  return !AuthorizationFor(url).empty() || !given_.HeaderFor(site, now).empty();
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
