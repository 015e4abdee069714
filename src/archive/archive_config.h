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
    // Of a volume on other machines: a connector.xml. Then `path` is where containers wait until
    // they are there, and where their rows stay. A path that is not absolute is one in the archive.
    std::string connector = {};
    std::string token_file = {};  // the token that its servers want; empty: none
    std::string owner = {};       // whose the containers are in that store; empty: "stele"

    bool is_remote() const { return !connector.empty(); }
    std::string owner_name() const { return owner.empty() ? "stele" : owner; }

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
