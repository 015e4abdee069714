#pragma once

#include <optional>
#include <string>
#include <string_view>

// Bodies as query strings, for RequestUrl(); nothing else includes this.
namespace stele::url {

// Letters, digits and "-._~" as they are, a space as '+', all else as %XX.
void AppendFormEncoded(std::string& out, std::string_view text);

// Every number, string, boolean and null as name=value, where the name is that of the nearest
// member and a name seen before is numbered ("a", "a.2_", "a.3_"). Values without any name are left
// out. One document, or one in each line. Nothing where the text is no JSON.
std::optional<std::string> JsonAsQuery(std::string_view json);

// The fields of a multipart/form-data body in their order. Nothing where it is broken or
// `content_type` has no boundary.
std::optional<std::string> MultipartAsQuery(std::string_view content_type, std::string_view body);

}  // namespace stele::url
