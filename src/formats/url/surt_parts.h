#pragma once

#include <string>
#include <string_view>

// The steps of SurtKey(); nothing else includes this.
namespace stele::url::surt {

// Replaces %XX by its byte until no %XX is left. The result is `text` itself or in `buffer`.
std::string_view UnescapeRepeatedly(std::string_view text, std::string& buffer);

// Space, controls, '#', '%' and all that is not ASCII as %xx, and letters in lower case.
void AppendEscapedLower(std::string& out, std::string_view text);

// The host in its plain canonical form (punycode, dotted decimal, no stray dots), lower case and
// escaped, with "www12." still there.
std::string CanonicalHost(std::string_view raw);

// "www.a.b" is appended as "b,a".
void AppendReversedHost(std::string& out, std::string_view canonical_host);

// Takes out "." and empty segments; ".." takes out what stands before it, or stays at the top. The
// result is `unescaped` itself or in `buffer`, where `unescaped` may already be.
std::string_view NormalizePath(std::string_view unescaped, std::string& buffer);

// Both on escaped lower-case text.
void StripPathSessionIds(std::string& path);
void StripQuerySessionIds(std::string& query);

// The arguments between '&', by name and then by value.
void AppendSortedArguments(std::string& out, std::string_view query);

}  // namespace stele::url::surt
