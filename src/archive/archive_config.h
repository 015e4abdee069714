#pragma once

#include <string>
#include <vector>

#include "io/file_system.h"
#include "util/result.h"

namespace stele::archive {

// What a person says about an archive: the file archive.toml. docs/archive.md.
struct ArchiveConfig {
  // The collection, for people; carried into what is exported.
  std::string title;
  std::string description;
  std::string creator;
  std::string rights;
  std::string contact;
  std::string language;

  struct Volume {
    std::string name;
    std::string path;      // a directory; empty: volumes/NAME in the archive
    bool writable = true;  // new containers may go there

    friend bool operator==(const Volume&, const Volume&) = default;
  };
  std::vector<Volume> volumes;  // the first that is writable and has room is taken

  friend bool operator==(const ArchiveConfig&, const ArchiveConfig&) = default;
};

// `name` is for messages. Errors: kInvalid, naming the line.
Result<ArchiveConfig> ParseArchiveConfig(const std::string& text, const std::string& name);
// With comments that say what may be put there.
std::string FormatArchiveConfig(const ArchiveConfig& config);

}  // namespace stele::archive
