#pragma once

#include <string>
#include <string_view>

#include "access/call.h"
#include "catalog/capture.h"

// Memento (RFC 7089): how clients travel in time through an archive. docs/access.md, "Memento".
namespace stele::access {

// Mementos that one TimeMap lists; a longer one comes in pages.
inline constexpr std::size_t kTimeMapMementos = 10'000;

// Where a capture is shown: "/web/20140126200624/http://a.org/" below the archive's prefix.
std::string MementoPath(const Call& call, const catalog::Capture& row,
                        std::string_view modifier = "");

// "Memento-Datetime", and "Link" with the original, TimeGate, TimeMap and the mementos around it.
std::vector<net::HeaderField> MementoFields(const Call& call, const catalog::Capture& row);

// The lines of a TimeMap, without what stands between them. `web` is call.Absolute("web/"). What
// could end a target stands there as %XX.
inline constexpr std::string_view kLinkFormat = "application/link-format";
// Original and TimeGate; with commas.
void AppendOriginalLinks(std::string& out, std::string_view web, std::string_view url);
void AppendTimeMapLink(std::string& out, std::string_view uri, std::string_view rel);
void AppendMementoLink(std::string& out, std::string_view web, const catalog::Capture& row,
                       std::string_view rel);

// `rest` is what stands behind "timemap/": "link/URL", "json/URL", "cdxj/URL", or a URL.
void SendTimeMap(const Call& call, std::string_view rest);

// Leads to the capture of `url` that is nearest to Accept-Datetime, or sends it.
void SendTimeGate(const Call& call, const std::string& url);

}  // namespace stele::access
