#include "formats/crawl_log/line.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "util/ascii.h"

// The first eleven fields have no spaces. What follows is the annotations, which may have some, and
// perhaps a JSON object, which starts with a brace after a space and reaches to the end of the
// line.
namespace stele::crawl_log {
namespace {

constexpr std::size_t kStatusWidth = 5;
constexpr std::size_t kSizeWidth = 10;
constexpr std::size_t kShownHops = 50;

// The fields before the annotations, in their order.
constexpr std::array kFields = {&Line::logged_at, &Line::status, &Line::size,      &Line::uri,
                                &Line::hops,      &Line::via,    &Line::mime_type, &Line::thread,
                                &Line::fetch,     &Line::digest, &Line::source};

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::string_view TrimSpaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Takes the next field from the front of `rest`.
std::string_view TakeField(std::string_view& rest) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != ' ') ++end;
  const std::string_view field = rest.substr(0, end);
  rest = rest.substr(end);
  return field;
}

std::string Value(std::string_view field) {
  return field == "-" ? std::string() : std::string(field);
}

// `text` starts with '{' and ends with the brace that closes it.
bool IsOneObject(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}') {
      if (--depth == 0) return i + 1 == text.size();
    }
  }
  return false;
}

// Where the JSON object starts in "annotations {…}", or the size of `rest`.
std::size_t FindExtra(std::string_view rest) {
  if (!rest.ends_with('}')) return rest.size();
  const std::size_t at = std::min(rest.find(" {\""), rest.find(" {}"));
  if (at == rest.npos || !IsOneObject(rest.substr(at + 1))) return rest.size();
  return at + 1;
}

std::optional<int> ParseStatus(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error Broken(std::string_view why, std::string_view text) {
  std::string message = "no line of a crawl.log (";
  message.append(why).append("): ").append(text.substr(0, 200));
  return Error{ErrorCode::kCorrupt, std::move(message)};
}

// Control bytes as %XX, and spaces too where `spaces` says so.
std::string Escaped(std::string_view value, bool spaces) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (char c : value) {
    if (!IsControl(c) && !(spaces && c == ' ')) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

void AppendField(std::string& out, std::string_view value, std::size_t width) {
  const std::string field = value.empty() ? std::string("-") : Escaped(value, true);
  if (!out.empty()) out.push_back(' ');
  if (field.size() < width) out.append(width - field.size(), ' ');
  out += field;
}

// They may have spaces within, but not at the ends, where they would be taken for divisions.
void AppendAnnotations(std::string& out, std::string_view annotations) {
  const std::string_view trimmed = TrimSpaces(annotations);
  out.push_back(' ');
  out += trimmed.empty() ? std::string("-") : Escaped(trimmed, false);
}

// Line breaks in JSON are white space.
void AppendExtra(std::string& out, std::string_view extra) {
  out.push_back(' ');
  for (char c : extra) out.push_back(IsControl(c) ? ' ' : c);
}

}  // namespace

Result<Line> ParseLine(std::string_view text) {
  if (text.size() > kMaxLineBytes) return Broken("longer than 4 MiB", text);
  Line line;
  std::string_view rest = text;
  for (std::string Line::*field : kFields) {
    const std::string_view value = TakeField(rest);
    if (value.empty()) return Broken("fewer than twelve fields", text);
    line.*field = Value(value);
  }
  rest = TrimSpaces(rest);
  if (rest.empty()) return Broken("fewer than twelve fields", text);
  if (!line.StatusCode()) return Broken("the status is no number", text);
  const std::size_t extra = FindExtra(rest);
  line.annotations = Value(TrimSpaces(rest.substr(0, extra)));
  line.extra = rest.substr(extra);
  return line;
}

std::string FormatLine(const Line& line) {
  std::string out;
  for (std::string Line::*field : kFields) {
    const std::size_t width = field == &Line::status ? kStatusWidth
                              : field == &Line::size ? kSizeWidth
                                                     : 0;
    AppendField(out, line.*field, width);
  }
  AppendAnnotations(out, line.annotations);
  if (!line.extra.empty()) AppendExtra(out, line.extra);
  return out;
}

std::optional<Timestamp> Line::LoggedAt() const { return ParseIso(logged_at); }
std::optional<int> Line::StatusCode() const { return ParseStatus(status); }
std::optional<std::uint64_t> Line::SizeBytes() const { return ParseDecimal(size); }

std::optional<Timestamp> Line::FetchBegin() const {
  const std::string_view digits = std::string_view(fetch).substr(0, fetch.find('+'));
  if (digits.size() != 14 && digits.size() != 17) return std::nullopt;
  return ParseDigits(digits);
}

std::optional<std::uint64_t> Line::FetchMilliseconds() const {
  const std::size_t plus = fetch.find('+');
  if (plus == fetch.npos) return std::nullopt;
  return ParseDecimal(std::string_view(fetch).substr(plus + 1));
}

std::vector<std::string_view> Line::AnnotationList() const {
  std::vector<std::string_view> list;
  const std::string_view text = annotations;
  // A quote that is never closed is no quote.
  const bool quotes = std::count(text.begin(), text.end(), '"') % 2 == 0;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (quotes && i < text.size() && text[i] == '"') quoted = !quoted;
    if (i < text.size() && (text[i] != ',' || quoted)) continue;
    if (i > begin) list.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return list;
}

std::string FetchField(Timestamp begin, std::uint64_t milliseconds) {
  std::string field = FormatDigits17(begin);
  field += '+';
  field += std::to_string(milliseconds);
  return field;
}

std::string ThreadField(unsigned number) {
  const std::string digits = std::to_string(number);
  std::string field = "#";
  if (digits.size() < 3) field.append(3 - digits.size(), '0');
  field += digits;
  return field;
}

std::string MimeTypeField(std::string_view content_type) {
  std::size_t end = 0;
  while (end < content_type.size() && !IsAsciiSpace(content_type[end]) &&
         content_type[end] != ';' && content_type[end] != ',') {
    ++end;
  }
  return end == 0 ? "no-type" : std::string(content_type.substr(0, end));
}

std::string HopsField(std::string_view hops) {
  if (hops.size() <= kShownHops) return std::string(hops);
  std::string field = std::to_string(hops.size() - kShownHops);
  field += '+';
  field += hops.substr(hops.size() - kShownHops);
  return field;
}

std::optional<Result<Line>> LineReader::Next() {
  while (at_ < text_.size()) {
    std::size_t end = text_.find('\n', at_);
    if (end == text_.npos && !last_) return std::nullopt;
    end = std::min(end, text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    ++line_number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!TrimSpace(line).empty()) return ParseLine(line);
  }
  return std::nullopt;
}

}  // namespace stele::crawl_log
