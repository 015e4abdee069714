#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/call.h"
#include "io/file_system.h"

namespace stele::access {

// Files of the pages, in one directory. Thread-safe. Borrows `fs` for life.
class StaticFiles {
 public:
  StaticFiles(io::FileSystem& fs, std::string directory)
      : fs_(fs), directory_(std::move(directory)) {}

  // Whether there are any.
  bool empty() const { return directory_.empty(); }

  struct File {
    std::string content;
    std::string type;
    std::string tag;  // an ETag
    bool is_html = false;
    bool never_changes = false;  // its name has a hash of it
  };
  // The file at a path of a request: percent-encoded, without the first '/'. Nothing where there is
  // none, and for all that leads elsewhere.
  std::optional<File> Read(std::string_view path) const;

 private:
  io::FileSystem& fs_;
  const std::string directory_;
};

// "a/b.js" for a path that stays below; nothing for "..", hidden files and the like.
std::optional<std::string> SafePath(std::string_view path);

// Sends it with these fields and those of its kind, or that the client has it already.
void SendFile(const Call& call, const StaticFiles::File& file, std::string_view policy,
              std::vector<net::HeaderField> fields = {});

}  // namespace stele::access
