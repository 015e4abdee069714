#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace stele::store {

struct Compression {
  std::string codec;  // a name of the codec registry
  int level = 0;

  friend bool operator==(const Compression&, const Compression&) = default;
};

// Reads "zstd", a codec at its usual level, or "zstd:9". Nothing for other codecs or levels.
std::optional<Compression> ParseCompression(std::string_view text);

// Says how contents are stored, by their media type. A value.
class CompressionTable {
 public:
  struct Rule {
    // "text/html", "text/*", "*+xml" or "*"; lower case.
    std::string media_type;
    Compression compression;
  };

  // Text is stored with gzip, which every system reads, and so is what has no type; the rest, most
  // of it compressed already, as it is.
  CompressionTable();
  // The first rule that fits is taken; identity when none does.
  explicit CompressionTable(std::vector<Rule> rules) : rules_(std::move(rules)) {}

  // Reads a table that a person wrote: a rule in each line, media type, codec, level. The type "-"
  // is that of contents without one; a codec without a level has its usual one; what follows a '#'
  // is a comment. Errors: kInvalid, with the line and what is wrong there.
  //
  //   text/html   zstd 3
  //   text/*      gzip
  //   *           identity
  static Result<CompressionTable> Parse(std::string_view text);

  // `media_type` as servers send it: parameters and case do not matter.
  Compression Choose(std::string_view media_type) const;
  // `codec` wins over the media type; one that ParseCompression() does not know is returned as it
  // is.
  Compression Choose(std::string_view media_type, std::string_view codec) const;

  const std::vector<Rule>& rules() const { return rules_; }

 private:
  std::vector<Rule> rules_;
};

}  // namespace stele::store
