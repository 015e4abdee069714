#include "formats/cdx/cdx.h"

#include <fmt/format.h>

#include "util/ascii.h"

namespace stele::cdx {
namespace {

// The member that a letter of a legend names; null for the letters we only carry along.
std::string Capture::*MemberOf(char letter) {
  switch (letter) {
    case 'N':
      return &Capture::key;
    case 'b':
      return &Capture::timestamp;
    case 'a':
      return &Capture::url;
    case 'm':
      return &Capture::mime;
    case 's':
      return &Capture::status;
    case 'k':
      return &Capture::digest;
    case 'r':
      return &Capture::redirect;
    case 'M':
      return &Capture::meta;
    case 'S':
      return &Capture::length;
    case 'V':
      return &Capture::offset;
    case 'g':
      return &Capture::filename;
    default:
      return nullptr;
  }
}

std::string Escape(std::string_view value, char separator) {
  if (value.empty()) return "-";
  std::string escaped;
  for (const char c : value) {
    if (c == separator || static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

Result<Legend> Legend::Parse(std::string_view line) {
  const Error wrong{ErrorCode::kInvalid,
                    "the first line is no CDX legend, such as \" CDX N b a m s k r M S V g\""};
  if (line.size() < 6 || line.substr(1, 3) != "CDX") return wrong;
  Legend legend;
  legend.separator_ = line[0];
  for (const std::string_view letter : Split(line.substr(5), legend.separator_)) {
    if (letter.size() > 1) return wrong;
    if (!letter.empty()) legend.letters_ += letter;
  }
  if (legend.letters_.empty()) return wrong;
  return legend;
}

Legend Legend::Eleven() { return *Parse(" CDX N b a m s k r M S V g"); }
Legend Legend::Nine() { return *Parse(" CDX N b a m s k r V g"); }

std::string Legend::Format() const {
  std::string line = std::string(1, separator_) + "CDX";
  for (const char letter : letters_) {
    line += separator_;
    line += letter;
  }
  return line;
}

Result<Capture> ParseCdxLine(std::string_view line, const Legend& legend) {
  const std::vector<std::string_view> values = Split(line, legend.separator());
  if (values.size() != legend.letters().size()) {
    return Error{ErrorCode::kCorrupt, fmt::format("the line has {} values, the legend {} letters",
                                                  values.size(), legend.letters().size())};
  }
  Capture capture;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view value = values[i] == "-" ? std::string_view() : values[i];
    if (std::string Capture::*member = MemberOf(legend.letters()[i])) {
      capture.*member = value;
    } else {
      capture.others.emplace_back(std::string(1, legend.letters()[i]), value);
    }
  }
  return capture;
}

std::string FormatCdxLine(const Capture& capture, const Legend& legend) {
  std::string line;
  for (const char letter : legend.letters()) {
    if (!line.empty()) line += legend.separator();
    std::string_view value;
    if (std::string Capture::*member = MemberOf(letter)) {
      value = capture.*member;
    } else {
      for (const auto& [name, other] : capture.others) {
        if (name.size() == 1 && name[0] == letter) value = other;
      }
    }
    line += Escape(value, legend.separator());
  }
  return line;
}

}  // namespace stele::cdx
