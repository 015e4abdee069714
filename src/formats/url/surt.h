#pragma once

#include <string>
#include <string_view>

// The sort keys of web archives ("SURT"): docs/formats/surt.md has the rules.
namespace stele::url {

// The key under which the Wayback tools (pywb, cdxj-indexer, warcio, OpenWayback) file a capture of
// `url`: host labels reversed, case, "www.", session ids and argument order taken out, the scheme
// dropped.
//
//   http://www.Example.com:8080/a/../B/?y=2&x=1#f  ->  com,example:8080)/b?x=1&y=2
//   dns:www.example.com                            ->  dns:www.example.com
//
// Never fails: what has no readable port is lower-cased and kept, nothing at all gives "-". The key
// has no bytes outside '!'..'~'. It loses information on purpose; keep the URL beside it.
// Takes time linear in the length but for sorting the arguments. Safe to call from all threads.
std::string SurtKey(std::string_view url);

// The host part of a key for a host in its plain form: "www.example.com" gives "com,example".
// SurtKey(url) of everything on this host starts with it, followed by ':' or ')'.
std::string SurtHost(std::string_view host);

}  // namespace stele::url
