#include "formats/http/accept_encoding.h"

#include "util/ascii.h"

namespace stele::http {
namespace {

// "q=0", "q=0.000"; other parameters have no meaning.
bool IsNoWeight(std::string_view parameter) {
  parameter = TrimSpace(parameter);
  if (!StartsWithIgnoreCase(parameter, "q=")) return false;
  return parameter.find_first_not_of("0.", 2) == std::string_view::npos;
}

}  // namespace

bool AcceptsCoding(const Headers& headers, std::string_view coding) {
  for (const std::string_view item : headers.List("Accept-Encoding")) {
    const std::size_t end = item.find(';');
    if (!EqualsIgnoreCase(TrimSpace(item.substr(0, end)), coding)) continue;
    return end == std::string_view::npos || !IsNoWeight(item.substr(end + 1));
  }
  return false;
}

}  // namespace stele::http
