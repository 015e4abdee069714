#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/cookies/cookies.h"
#include "formats/url/url.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::crawl {

// A page with a form that lets a person in.
struct LoginByForm {
  url::Url page;
  std::string fields;  // as they are sent: "user=me&password=x"
};

// What a person gave so that hosts let the crawl in. It is sent, and never stored: requests go to
// the archive by way of Redacted(). Immutable.
class Credentials {
 public:
  // Lines of "HOST basic USER:PASSWORD", "HOST bearer TOKEN" or "HOST form URL NAME=VALUE&...";
  // HOST may be HOST:PORT. What follows '#' at the begin of a line is passed over. Errors:
  // kInvalid, naming `name` and the line, without what stands there.
  Status AddLogins(std::string_view text, const std::string& name);
  // Whose port logins for its host are for, too. Where it is https, none of them goes over http.
  void AddSeed(const url::Url& seed);
  // A cookies.txt, as browsers export it.
  void AddCookies(std::string_view text, Timestamp now);
  // Those that a login brought.
  void AddCookies(std::vector<cookies::Cookie> cookies, Timestamp now);

  // The value of Authorization; empty: none. A login for HOST:PORT is for this place only, one for
  // HOST for the ports of http and https and those of seeds.
  std::string AuthorizationFor(const url::Url& url) const;
  // The same for a proxy, whatever its port.
  std::string AuthorizationForProxy(std::string_view host, std::uint16_t port) const;
  const std::vector<cookies::Cookie>& cookies() const { return cookies_; }
  const std::vector<LoginByForm>& forms() const { return forms_; }
  // Whether something of this goes to the site.
  bool GoesTo(const url::Url& url, Timestamp now) const;

 private:
  // Nothing where there is no login for this place.
  const std::string* Login(std::string_view place) const;

  std::map<std::string, std::string, std::less<>> logins_;  // by "host" or "host:port"
  std::set<std::string> seed_places_;                       // "host:port"
  std::set<std::string> https_seeds_;                       // "host" and "host:port"
  std::vector<LoginByForm> forms_;
  std::vector<cookies::Cookie> cookies_;
  cookies::CookieJar given_;  // the same
};

// A request as it was sent, but for the values of Authorization and Cookie.
std::string Redacted(std::string_view request);

}  // namespace stele::crawl
