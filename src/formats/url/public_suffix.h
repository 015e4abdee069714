#pragma once

#include <string_view>

// Where the names that anybody can register end and those of one owner begin, after the public
// suffix list that libpsl was built with.
namespace stele::url {

// The registered domain of `host`, as a view into `host`: "news.bbc.co.uk" gives "bbc.co.uk". A
// host that has none stands for itself: an IP address, a public suffix ("co.uk", "github.io") and a
// single name ("localhost") come back whole, so that the result is empty only for an empty host and
// can always be used to group hosts. Case does not matter; a dot at the end belongs to the domain.
// Host names are in ASCII, as Url::host() gives them. Safe to call from all threads.
std::string_view RegisteredDomain(std::string_view host);

// True for a name directly under which strangers can register: "com", "co.uk", "github.io".
bool IsPublicSuffix(std::string_view host);

}  // namespace stele::url
