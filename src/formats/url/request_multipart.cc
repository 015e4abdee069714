#include <algorithm>

#include "formats/url/request_body.h"
#include "util/ascii.h"

namespace stele::url {
namespace {

// RFC 2046 allows 70. A long one would make each search in the body take long.
constexpr std::size_t kMaxBoundaryBytes = 128;

// The next parameter of a header, "; name=value" or "; name=\"quoted\\\"value\"". `text` is what is
// left after it.
struct Parameter {
  std::string_view name;
  std::string value;
};

std::optional<Parameter> NextParameter(std::string_view& text) {
  const std::size_t semicolon = text.find(';');
  if (semicolon == text.npos) return std::nullopt;
  text.remove_prefix(semicolon + 1);
  const std::size_t stop = std::min(text.find_first_of("=;"), text.size());
  Parameter parameter{TrimSpace(text.substr(0, stop)), {}};
  text.remove_prefix(stop);
  if (!text.starts_with('=')) return parameter;
  text.remove_prefix(1);
  while (!text.empty() && IsAsciiSpace(text.front())) text.remove_prefix(1);
  if (!text.starts_with('"')) {
    const std::size_t end = std::min(text.find_first_of("; \t"), text.size());
    parameter.value = text.substr(0, end);
    text.remove_prefix(end);
    return parameter;
  }
  std::size_t i = 1;
  for (; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '"') ++i;
    parameter.value.push_back(text[i]);
  }
  if (i >= text.size()) parameter.value.clear();  // the quote is never closed
  text.remove_prefix(std::min(i + 1, text.size()));
  return parameter;
}

std::optional<std::string> ParameterValue(std::string_view header, std::string_view name) {
  std::optional<std::string> value;
  while (std::optional<Parameter> parameter = NextParameter(header)) {
    if (EqualsIgnoreCase(parameter->name, name)) value = std::move(parameter->value);
  }
  return value;
}

// Browsers write these three, and only these, as escapes in a name.
std::string UnescapeName(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view escape = name.substr(i, 3);
    const char byte = escape == "%22"   ? '"'
                      : escape == "%0D" ? '\r'
                      : escape == "%0A" ? '\n'
                                        : '\0';
    if (byte != '\0') i += 2;
    out.push_back(byte != '\0' ? byte : name[i]);
  }
  return out;
}

// The field's name from the headers of a part; "" where it has none, nothing where the part is no
// form field.
std::optional<std::string> FieldName(std::string_view headers) {
  std::optional<std::string> name;
  while (!headers.empty()) {
    const std::size_t end = std::min(headers.find("\r\n"), headers.size());
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + 2, headers.size()));
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return std::nullopt;
    if (!EqualsIgnoreCase(TrimSpace(line.substr(0, colon)), "content-disposition")) continue;
    const std::string_view value = TrimSpace(line.substr(colon + 1));
    const std::string_view kind = value.substr(0, std::min(value.find(';'), value.size()));
    if (!EqualsIgnoreCase(TrimSpace(kind), "form-data")) return std::nullopt;
    name = UnescapeName(ParameterValue(value, "name").value_or(""));
  }
  return name;
}

// Where the first delimiter line starts: at the beginning or after a line break.
std::size_t FindFirstDelimiter(std::string_view body, std::string_view delimiter) {
  if (body.starts_with(delimiter.substr(2))) return 0;
  const std::size_t at = body.find(delimiter);
  return at == body.npos ? at : at + 2;
}

}  // namespace

std::optional<std::string> MultipartAsQuery(std::string_view content_type, std::string_view body) {
  const std::optional<std::string> boundary = ParameterValue(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > kMaxBoundaryBytes) return std::nullopt;
  const std::string delimiter = "\r\n--" + *boundary;
  std::size_t at = FindFirstDelimiter(body, delimiter);
  if (at == body.npos) return std::nullopt;
  at += delimiter.size() - 2;
  std::string query;
  while (body.substr(at, 2) == "\r\n") {
    at += 2;
    const std::size_t headers_end = body.find("\r\n\r\n", at);
    if (headers_end == body.npos) return std::nullopt;
    const std::optional<std::string> name = FieldName(body.substr(at, headers_end - at));
    // An empty field's delimiter starts with the line break that ends the headers.
    const std::size_t end = body.find(delimiter, headers_end + 2);
    if (!name || end == body.npos) return std::nullopt;
    const std::size_t begin = std::min(headers_end + 4, end);
    if (!query.empty()) query.push_back('&');
    AppendFormEncoded(query, *name);
    query.push_back('=');
    AppendFormEncoded(query, body.substr(begin, end - begin));
    at = end + delimiter.size();
  }
  if (body.substr(at, 2) != "--") return std::nullopt;
  return query;
}

}  // namespace stele::url
