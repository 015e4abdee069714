#pragma once

#include <string>
#include <string_view>

#include "formats/cdx/capture.h"
#include "util/result.h"

// CDX files: a legend such as " CDX N b a m s k r M S V g", then one line per capture with a value
// for each letter. The first byte of the legend is what separates the values.
namespace stele::cdx {

class Legend {
 public:
  // Errors: kInvalid when this is no legend.
  static Result<Legend> Parse(std::string_view line);
  static Legend Eleven();  // " CDX N b a m s k r M S V g"
  static Legend Nine();    // " CDX N b a m s k r V g"

  const std::string& letters() const { return letters_; }
  char separator() const { return separator_; }
  std::string Format() const;  // without line end

 private:
  std::string letters_;
  char separator_ = ' ';
};

// A line without its line end. Values beyond the legend are an error, and so are missing ones: the
// line is damaged then. Errors: kCorrupt.
Result<Capture> ParseCdxLine(std::string_view line, const Legend& legend);
// Values that contain the separator or a line end are percent-encoded where that would break the
// line.
std::string FormatCdxLine(const Capture& capture, const Legend& legend);

// CDXJ: "key timestamp {json}". Numbers and strings are both understood as values. Errors:
// kCorrupt.
Result<Capture> ParseCdxjLine(std::string_view line);
// As pywb and warcio write it: every value a string, the names in the order url, mime, status,
// digest, length, offset, filename.
std::string FormatCdxjLine(const Capture& capture);

}  // namespace stele::cdx
