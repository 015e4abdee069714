// Three ways to decode. UTF-8 is checked and copied. Single-byte encodings become a table of 128
// code points, filled once from ICU, so that ASCII is ASCII in all of them (ICU's tables of PC code
// pages swap some control characters). The rest streams through an ICU converter.
#include "formats/html/text_decoder.h"

#include <unicode/ucnv.h>

#include <array>
#include <cstdint>
#include <vector>

#include "formats/html/utf8.h"
#include "util/check.h"

namespace stele::html {
namespace {

using ConverterPointer = std::unique_ptr<UConverter, void (*)(UConverter*)>;

const char* IcuName(Encoding encoding) {
  switch (encoding) {
    case Encoding::kIso8859_8I:
      return "ISO-8859-8";
    case Encoding::kWindows874:
      return "windows-874-2000";
    case Encoding::kGbk:
      return "gb18030";
    case Encoding::kBig5:
      return "Big5-HKSCS";
    case Encoding::kShiftJis:
      return "ibm-943_P15A-2003";
    case Encoding::kEucKr:
      return "windows-949-2000";
    default:
      return EncodingName(encoding).data();  // a literal, hence ends in NUL
  }
}

ConverterPointer OpenConverter(Encoding encoding) {
  UErrorCode status = U_ZERO_ERROR;
  ConverterPointer converter(ucnv_open(IcuName(encoding), &status), ucnv_close);
  // The names above are all part of ICU's own data.
  Check(U_SUCCESS(status) && converter != nullptr);
  return converter;
}

// ISO-8859-16, which ICU does not carry: where it differs from Latin-1.
struct Difference {
  std::uint8_t byte;
  char16_t code_point;
};
constexpr Difference kLatin10[] = {
    {0xA1, 0x0104}, {0xA2, 0x0105}, {0xA3, 0x0141}, {0xA4, 0x20AC}, {0xA5, 0x201E}, {0xA6, 0x0160},
    {0xA8, 0x0161}, {0xAA, 0x0218}, {0xAC, 0x0179}, {0xAE, 0x017A}, {0xAF, 0x017B}, {0xB2, 0x010C},
    {0xB3, 0x0142}, {0xB4, 0x017D}, {0xB5, 0x201D}, {0xB8, 0x017E}, {0xB9, 0x010D}, {0xBA, 0x0219},
    {0xBC, 0x0152}, {0xBD, 0x0153}, {0xBE, 0x0178}, {0xBF, 0x017C}, {0xC3, 0x0102}, {0xC5, 0x0106},
    {0xD0, 0x0110}, {0xD1, 0x0143}, {0xD5, 0x0150}, {0xD7, 0x015A}, {0xD8, 0x0170}, {0xDD, 0x0118},
    {0xDE, 0x021A}, {0xE3, 0x0103}, {0xE5, 0x0107}, {0xF0, 0x0111}, {0xF1, 0x0144}, {0xF5, 0x0151},
    {0xF7, 0x015B}, {0xF8, 0x0171}, {0xFD, 0x0119}, {0xFE, 0x021B},
};

using HighHalf = std::array<char16_t, 128>;

HighHalf TableFromIcu(Encoding encoding) {
  HighHalf table;
  const ConverterPointer converter = OpenConverter(encoding);
  for (int byte = 0x80; byte < 0x100; ++byte) {
    const char in = static_cast<char>(byte);
    const char* source = &in;
    std::array<UChar, 4> out = {0xFFFD};
    UChar* target = out.data();
    UErrorCode status = U_ZERO_ERROR;
    ucnv_reset(converter.get());
    ucnv_toUnicode(converter.get(), &target, out.data() + out.size(), &source, &in + 1, nullptr,
                   true, &status);
    table[static_cast<std::size_t>(byte - 0x80)] = out[0];
  }
  return table;
}

HighHalf MakeTable(Encoding encoding) {
  if (!IsSingleByte(encoding)) return {};
  HighHalf table;
  if (encoding == Encoding::kUserDefined) {
    for (std::size_t i = 0; i < 128; ++i) table[i] = static_cast<char16_t>(0xF780 + i);
    return table;
  }
  if (encoding == Encoding::kIso8859_16) {
    for (std::size_t i = 0; i < 128; ++i) table[i] = static_cast<char16_t>(0x80 + i);
    for (const Difference& d : kLatin10) table[d.byte - 0x80u] = d.code_point;
    return table;
  }
  table = TableFromIcu(encoding);
  if (encoding == Encoding::kWindows874) {
    for (char16_t& c : table) c = c >= 0xE000 ? 0xFFFD : c;  // ICU fills the gaps privately
  } else if (encoding == Encoding::kKoi8U) {
    table[0xAE - 0x80] = 0x045E;  // the standard's KOI8-U has the Belarusian letter
    table[0xBE - 0x80] = 0x040E;
  } else if (encoding == Encoding::kWindows1255) {
    table[0xCA - 0x80] = 0x05BA;
  }
  return table;
}

// To ask ICU takes as long as to decode some pages.
const HighHalf& TableOf(Encoding encoding) {
  static const std::vector<HighHalf> tables = [] {
    std::vector<HighHalf> all;
    for (int i = 0; i < kEncodingCount; ++i) all.push_back(MakeTable(static_cast<Encoding>(i)));
    return all;
  }();
  return tables[static_cast<std::size_t>(encoding)];
}

}  // namespace

class TextDecoder::Impl {
 public:
  explicit Impl(Encoding encoding) : encoding_(encoding), converter_(nullptr, ucnv_close) {
    const bool needs_icu = !IsSingleByte(encoding) && encoding != Encoding::kUtf8 &&
                           encoding != Encoding::kReplacement;
    if (needs_icu) converter_ = OpenConverter(encoding);
  }

  void Finish(std::string& out) {
    if (encoding_ == Encoding::kUtf8) DecodeUtf8({}, out, true);
    if (converter_ != nullptr) DecodeByIcu({}, out, true);
    replaced_ = false;
  }

  void Decode(std::string_view bytes, std::string& out) {
    if (encoding_ == Encoding::kUtf8) {
      DecodeUtf8(bytes, out, false);
    } else if (encoding_ == Encoding::kReplacement) {
      if (!bytes.empty() && !replaced_) out.append(kReplacementUtf8);
      replaced_ |= !bytes.empty();
    } else if (converter_ != nullptr) {
      DecodeByIcu(bytes, out, false);
    } else {
      DecodeByTable(bytes, out);
    }
  }

 private:
  void DecodeUtf8(std::string_view bytes, std::string& out, bool last) {
    // At most three bytes wait for the rest of their character.
    while (!held_.empty() && !bytes.empty()) {
      held_.push_back(bytes[0]);
      bytes.remove_prefix(1);
      if (IsValidUtf8(held_)) {
        out.append(held_);
        held_.clear();
        break;
      }
      const BrokenUtf8 broken = MeasureBrokenUtf8(held_);
      if (broken.unfinished) continue;
      out.append(kReplacementUtf8);
      const std::string rest = held_.substr(broken.size);
      held_.clear();
      // What broke the character is one byte, and it may start the next one.
      AppendUtf8Run(rest, out, false);
    }
    if (held_.empty()) AppendUtf8Run(bytes, out, last);
    if (last && !held_.empty()) {
      out.append(kReplacementUtf8);
      held_.clear();
    }
  }

  void AppendUtf8Run(std::string_view bytes, std::string& out, bool last) {
    while (!bytes.empty()) {
      const std::size_t valid = ValidUtf8Prefix(bytes);
      out.append(bytes.substr(0, valid));
      bytes.remove_prefix(valid);
      if (bytes.empty()) return;
      const BrokenUtf8 broken = MeasureBrokenUtf8(bytes);
      if (broken.unfinished && !last) {
        held_.assign(bytes);
        return;
      }
      out.append(kReplacementUtf8);
      bytes.remove_prefix(broken.size);
    }
  }

  void DecodeByTable(std::string_view bytes, std::string& out) {
    for (;;) {
      const std::size_t ascii = AsciiPrefix(bytes);
      out.append(bytes.substr(0, ascii));
      bytes.remove_prefix(ascii);
      if (bytes.empty()) return;
      const HighHalf& table = TableOf(encoding_);
      while (!bytes.empty() && static_cast<std::uint8_t>(bytes[0]) >= 0x80) {
        AppendUtf8(out, table[static_cast<std::uint8_t>(bytes[0]) - 0x80u]);
        bytes.remove_prefix(1);
      }
    }
  }

  void DecodeByIcu(std::string_view bytes, std::string& out, bool last) {
    std::array<UChar, 2048> pivot;
    const char* source = bytes.data();
    const char* const source_end = source + bytes.size();
    UErrorCode status = U_BUFFER_OVERFLOW_ERROR;
    while (status == U_BUFFER_OVERFLOW_ERROR) {
      status = U_ZERO_ERROR;
      UChar* target = pivot.data();
      ucnv_toUnicode(converter_.get(), &target, pivot.data() + pivot.size(), &source, source_end,
                     nullptr, last, &status);
      for (const UChar* unit = pivot.data(); unit != target; ++unit) AppendUnit(*unit, out);
    }
    if (!last) return;
    if (high_surrogate_ != 0) out.append(kReplacementUtf8);
    high_surrogate_ = 0;
    ucnv_reset(converter_.get());
  }

  // Joins surrogate pairs, which may come in two calls.
  void AppendUnit(char16_t unit, std::string& out) {
    const bool low = unit >= 0xDC00 && unit < 0xE000;
    if (high_surrogate_ != 0) {
      const char32_t high = high_surrogate_;
      high_surrogate_ = 0;
      if (low) {
        AppendUtf8(out, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00u));
        return;
      }
      out.append(kReplacementUtf8);
    }
    if (unit >= 0xD800 && unit < 0xDC00) {
      high_surrogate_ = unit;
    } else {
      AppendUtf8(out, unit);
    }
  }

  Encoding encoding_;
  ConverterPointer converter_;
  std::string held_;
  char16_t high_surrogate_ = 0;
  bool replaced_ = false;
};

TextDecoder::TextDecoder(Encoding encoding) : impl_(std::make_unique<Impl>(encoding)) {}
TextDecoder::~TextDecoder() = default;
TextDecoder::TextDecoder(TextDecoder&&) noexcept = default;
TextDecoder& TextDecoder::operator=(TextDecoder&&) noexcept = default;

void TextDecoder::Decode(std::string_view bytes, std::string& out) { impl_->Decode(bytes, out); }

void TextDecoder::Finish(std::string& out) { impl_->Finish(out); }

std::string DecodeText(std::string_view bytes, Encoding encoding) {
  std::string out;
  out.reserve(bytes.size());
  TextDecoder decoder(encoding);
  decoder.Decode(bytes, out);
  decoder.Finish(out);
  return out;
}

}  // namespace stele::html
