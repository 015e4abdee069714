#include "formats/html/tokenizer_text.h"

#include "formats/html/character_reference.h"
#include "formats/html/tokenizer_scan.h"
#include "formats/html/utf8.h"
#include "util/ascii.h"

namespace stele::html {

void AppendName(std::string_view source, std::string& out) {
  for (const char c : source) {
    if (c == '\0') {
      out.append(kReplacementUtf8);
    } else {
      out.push_back(ToAsciiLower(c));
    }
  }
}

namespace {

// Appends up to the next byte that no verbatim copy may pass, handles it if it is NUL or a line
// end, and returns where to go on: at the end, or at an '&' if those stop.
template <char... kStops>
const char* AppendRun(const char* p, const char* end, std::string& out) {
  const char* stop = FindFirstOf<'\r', '\0', kStops...>(p, end);
  out.append(p, stop);
  if (stop == end) return end;
  if (*stop == '\0') {
    out.append(kReplacementUtf8);
    return stop + 1;
  }
  if (*stop == '\r') {
    if (stop + 1 == end || stop[1] != '\n') out.push_back('\n');
    return stop + 1;
  }
  return stop;
}

}  // namespace

void AppendText(std::string_view source, std::string& out) {
  const char* end = source.data() + source.size();
  for (const char* p = source.data(); p != end;) p = AppendRun(p, end, out);
}

void AppendValue(std::string_view source, std::string& out) {
  const char* end = source.data() + source.size();
  for (const char* p = source.data(); p != end;) {
    p = AppendRun<'&'>(p, end, out);
    if (p == end || *p != '&') continue;
    const std::string_view rest(p, static_cast<std::size_t>(end - p));
    const ReferenceMatch match = MatchReference(rest, ReferencePlace::kAttribute, true);
    if (match.outcome == ReferenceMatch::Outcome::kDecoded) {
      out.append(match.text());
      p += match.length;
    } else {
      out.push_back(*p++);
    }
  }
}

std::string_view TextOf(std::string_view source, std::string& storage) {
  const char* end = source.data() + source.size();
  if (FindFirstOf<'\r', '\0'>(source.data(), end) == end) return source;
  storage.clear();
  AppendText(source, storage);
  return storage;
}

}  // namespace stele::html
