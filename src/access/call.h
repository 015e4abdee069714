#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/escape.h"
#include "access/parameters.h"
#include "access/sight.h"
#include "net/http_handler.h"

namespace stele::access {

// "http://127.0.0.1:8080", as the browser knows them.
struct Origins {
  std::string pages;
  std::string replay;  // empty: there is none
};

// One request, on its way through the routes. Borrows request and response for the call.
struct Call {
  net::Request& request;
  net::ResponseWriter& response;
  Sight sight;
  Origins origins;
  std::string prefix;       // where the archive's routes begin: "/" or "/name/"
  std::string_view path;    // behind the prefix, as sent
  std::string_view target;  // the same, with the query
  Parameters parameters;
  // Captures are shown at the address of their own time only; others lead there.
  bool leads_to_exact = true;

  bool is_head() const { return request.head().method == "HEAD"; }
  bool is_read() const { return is_head() || request.head().method == "GET"; }
  // The value of a header; empty where there is none.
  std::string_view Header(std::string_view name) const {
    return request.head().headers.Find(name).value_or("");
  }
  // "http://127.0.0.1:8080/name/web/..." for "web/...".
  std::string Absolute(std::string_view below) const {
    return origins.pages + prefix + std::string(below);
  }
};

// What our own answers carry, whatever they are. They are never stored by others, since what may be
// shown can change.
net::ResponseStart StartOf(int status, std::string_view content_type);

// A whole answer, compressed where that pays and the client takes it.
void Send(const Call& call, net::ResponseStart start, std::string_view body);
void SendText(const Call& call, std::string_view content_type, std::string_view body);
void SendJson(const Call& call, std::string_view json);
void Redirect(const Call& call, std::string location, std::vector<net::HeaderField> fields = {});

// An answer made while it is sent: `make` appends to its argument; false after the last. Compressed
// as others are.
using MakePiece = std::function<Result<bool>(std::string& out)>;
void SendPieces(const Call& call, net::ResponseStart start, MakePiece make);

// A whole plain page of ours, without script or picture. `title` is text, `body` is HTML.
std::string PlainPage(std::string_view title, std::string_view body);
inline constexpr std::string_view kHtmlType = "text/html; charset=utf-8";
inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kPlainType = "text/plain; charset=utf-8";

// In seconds: what is busy, or cannot be reached, may be asked for again then.
inline constexpr std::string_view kRetryAfter = "30";

// Whether the value of If-None-Match names this entity tag.
bool NamesTag(std::string_view list, std::string_view tag);

// An error as a page for people, or as JSON below /api/.
void SendError(const Call& call, int status, std::string_view title, std::string_view text);
// The status by the error's code: of what the archive has, or of what the client asked for.
void SendError(const Call& call, const Error& error);
void SendNotFound(const Call& call, std::string_view what);
// What may not be shown; what may be shown, but not taken away.
void SendBlocked(const Call& call);
void SendKept(const Call& call);

}  // namespace stele::access
