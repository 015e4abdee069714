#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/credentials.h"
#include "formats/cookies/cookies.h"
#include "io/clock.h"
#include "net/fetcher.h"
#include "util/result.h"

namespace stele::crawl {

// A form of a page, as far as a login needs it.
struct LoginForm {
  std::string action;  // as it stands there; empty: the page itself
  std::string hidden;  // fields that the page fills in, as they are sent
};

// The first form of `page` that has one of `fields` ("user=me&password=x"), with its other fields
// that have a value and are hidden. Where there is none, one without anything.
LoginForm FindLoginForm(std::string_view page, std::string_view fields);

// Asks for the page of a login, fills in its form and sends it; gives the cookies that the server
// set. Nothing of that is stored. A form that would send its fields to another host, or in the
// clear where the page was not, is not sent. Waits for the network, until `is_stopped`; the fetcher
// fetches nothing more then. Errors: kInvalid when the server does not let us in, naming the page
// and no secret.
Result<std::vector<cookies::Cookie>> LogIn(const LoginByForm& login, const std::string& user_agent,
                                           const std::optional<net::FetchProxy>& proxy,
                                           net::Fetcher& fetcher, const io::Clock& clock,
                                           const std::function<bool()>& is_stopped);

}  // namespace stele::crawl
