#include <algorithm>
#include <array>
#include <vector>

#include "formats/url/surt_parts.h"
#include "util/ascii.h"

// Escapes are resolved with a stack: each time the output ends in %XX it is replaced by its byte,
// which may complete another %XX. Two escapes never share a byte, so the order does not matter and
// one pass gives what unescaping again and again would.
namespace stele::url::surt {
namespace {

constexpr std::array<bool, 256> MakeEscapedTable() {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 256; ++c) table[c] = c <= 0x20 || c >= 0x7F || c == '#' || c == '%';
  return table;
}
constexpr std::array<bool, 256> kEscaped = MakeEscapedTable();

bool IsLowerAlnum(char c) { return IsAsciiDigit(c) || IsAsciiLower(c); }

// `count` bytes at `at` are all letters, or letters and digits.
bool HasRun(std::string_view text, std::size_t at, std::size_t count, bool digits) {
  if (at > text.size() || text.size() - at < count) return false;
  for (char c : text.substr(at, count)) {
    if (!(digits ? IsLowerAlnum(c) : IsAsciiLower(c))) return false;
  }
  return true;
}

bool EndsArgument(std::string_view query, std::size_t at) {
  return at == query.size() || query[at] == '&';
}

// Removes [begin, end) and the '&' after it.
void EraseArgument(std::string& query, std::size_t begin, std::size_t end) {
  query.erase(begin, end - begin + (end < query.size() ? 1 : 0));
}

// The last `name` with a value of 32 letters and digits. It may start in the middle of an argument.
void StripSessionValue(std::string& query, std::string_view name) {
  for (std::size_t at = query.rfind(name); at != query.npos;) {
    const std::size_t end = at + name.size() + 32;
    if (HasRun(query, at + name.size(), 32, true) && EndsArgument(query, end)) {
      return EraseArgument(query, at, end);
    }
    if (at == 0) return;
    at = query.rfind(name, at - 1);
  }
}

// "aspsessionid" and 8 letters, "=", 24 letters.
void StripAspSession(std::string& query) {
  constexpr std::string_view kName = "aspsessionid";
  for (std::size_t at = query.rfind(kName); at != query.npos;) {
    const std::size_t equals = at + kName.size() + 8;
    const std::size_t end = equals + 25;
    if (HasRun(query, equals - 8, 8, false) && HasRun(query, equals + 1, 24, false) &&
        query[equals] == '=' && EndsArgument(query, end)) {
      return EraseArgument(query, at, end);
    }
    if (at == 0) return;
    at = query.rfind(kName, at - 1);
  }
}

// The last "cfid=x&cftoken=y", neither of them empty.
void StripColdFusionSession(std::string& query) {
  constexpr std::string_view kId = "cfid=";
  constexpr std::string_view kToken = "&cftoken=";
  for (std::size_t token = query.rfind(kToken); token != query.npos && token > 0;
       token = query.rfind(kToken, token - 1)) {
    const std::size_t value = token + kToken.size();
    if (EndsArgument(query, value)) continue;
    const std::size_t before = query.rfind('&', token - 1);
    const std::size_t argument_begin = before == query.npos ? 0 : before + 1;
    const std::string_view argument =
        std::string_view(query).substr(argument_begin, token - argument_begin);
    if (argument.size() <= kId.size()) continue;
    const std::size_t id = argument.rfind(kId, argument.size() - kId.size() - 1);
    if (id == argument.npos) continue;
    return EraseArgument(query, argument_begin + id,
                         std::min(query.find('&', value), query.size()));
  }
}

// "(24)/" with 24 letters and digits: its end, or npos.
std::size_t EndOfPlainSession(std::string_view path, std::size_t at) {
  if (at >= path.size() || path[at] != '(' || !HasRun(path, at + 1, 24, true)) return path.npos;
  return path.substr(at + 25, 2) == ")/" ? at + 27 : path.npos;
}

// "(a(24)b(24))/", one or more: its end, or npos.
std::size_t EndOfLetteredSession(std::string_view path, std::size_t at) {
  if (at >= path.size() || path[at] != '(') return path.npos;
  std::size_t i = at + 1;
  while (HasRun(path, i, 1, false) && path.substr(i + 1, 1) == "(" &&
         HasRun(path, i + 2, 24, true) && path.substr(i + 26, 1) == ")") {
    i += 27;
  }
  return i > at + 1 && path.substr(i, 2) == ")/" ? i + 2 : path.npos;
}

// Takes out the last session before "name.aspx", where no '?' comes between. Walks from the right
// and remembers the next ".aspx" and '?', so that hostile paths take no longer than others.
template <typename EndOfSession>
void StripAspxSession(std::string& path, EndOfSession end_of_session) {
  std::size_t next_aspx = path.npos;
  std::size_t next_question = path.npos;
  const std::string_view view = path;
  for (std::size_t i = path.size(); i-- > 0;) {
    if (view[i] == '?') next_question = i;
    if (view[i] == '.' && view.substr(i, 5) == ".aspx") next_aspx = i;
    if (view[i] != '/' || next_aspx == path.npos) continue;
    const std::size_t end = end_of_session(view, i + 1);
    if (end == path.npos) continue;
    std::size_t aspx = next_aspx;
    if (aspx == end) aspx = view.find(".aspx", end + 1);
    if (aspx == path.npos || next_question < aspx) continue;
    path.erase(i + 1, end - i - 1);
    return;
  }
}

}  // namespace

std::string_view UnescapeRepeatedly(std::string_view text, std::string& buffer) {
  std::size_t size = text.find('%');
  if (size == text.npos) return text;
  buffer = text;
  for (std::size_t i = size; i < text.size(); ++i) {
    buffer[size++] = text[i];
    while (size >= 3 && buffer[size - 3] == '%' && IsAsciiHexDigit(buffer[size - 2]) &&
           IsAsciiHexDigit(buffer[size - 1])) {
      const int byte = HexValue(buffer[size - 2]) * 16 + HexValue(buffer[size - 1]);
      buffer[size - 3] = static_cast<char>(byte);
      size -= 2;
    }
  }
  return std::string_view(buffer).substr(0, size);
}

void AppendEscapedLower(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::size_t escapes = 0;
  for (char c : text) escapes += kEscaped[static_cast<unsigned char>(c)] ? 1 : 0;
  const std::size_t begin = out.size();
  out.resize(begin + text.size() + 2 * escapes);
  char* to = out.data() + begin;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (!kEscaped[byte]) {
      *to++ = ToAsciiLower(c);
      continue;
    }
    *to++ = '%';
    *to++ = kHex[byte >> 4];
    *to++ = kHex[byte & 15];
  }
}

std::string_view NormalizePath(std::string_view unescaped, std::string& buffer) {
  if (unescaped.starts_with('/') && unescaped.find("//") == unescaped.npos &&
      unescaped.find("/.") == unescaped.npos) {
    return unescaped;
  }
  // Empty segments stay until the end: in "/a//../b" it is one of them that ".." takes out.
  std::string out;
  out.reserve(unescaped.size() + 1);
  for (std::size_t begin = unescaped.starts_with('/') ? 1 : 0; begin <= unescaped.size();) {
    const std::size_t end = std::min(unescaped.find('/', begin), unescaped.size());
    const std::string_view segment = unescaped.substr(begin, end - begin);
    begin = end + 1;
    if (segment == ".") continue;
    if (segment == ".." && !out.empty()) {
      out.resize(out.rfind('/'));
      continue;
    }
    out.push_back('/');
    out += segment;
  }
  out.erase(
      std::unique(out.begin(), out.end(), [](char a, char b) { return a == '/' && b == '/'; }),
      out.end());
  if (out.empty()) out.push_back('/');
  buffer = std::move(out);
  return buffer;
}

void StripPathSessionIds(std::string& path) {
  if (path.find(".aspx") == path.npos || path.find('(') == path.npos) return;
  StripAspxSession(path, EndOfLetteredSession);
  StripAspxSession(path, EndOfPlainSession);
}

void StripQuerySessionIds(std::string& query) {
  if (query.size() < 16) return;
  StripSessionValue(query, "jsessionid=");
  StripSessionValue(query, "phpsessid=");
  StripSessionValue(query, "sid=");
  StripAspSession(query);
  StripColdFusionSession(query);
}

void AppendSortedArguments(std::string& out, std::string_view query) {
  if (query.find('&') == query.npos) {
    out += query;
    return;
  }
  struct Argument {
    std::string_view text;
    std::size_t name_size;
  };
  std::vector<Argument> arguments;
  for (std::string_view text : Split(query, '&')) {
    arguments.push_back({text, std::min(text.find('='), text.size())});
  }
  std::sort(arguments.begin(), arguments.end(), [](const Argument& a, const Argument& b) {
    const int names = a.text.substr(0, a.name_size).compare(b.text.substr(0, b.name_size));
    return names != 0 ? names < 0 : a.text < b.text;
  });
  bool first = true;
  for (const Argument& argument : arguments) {
    if (!first) out.push_back('&');
    first = false;
    out += argument.text;
  }
}

}  // namespace stele::url::surt
