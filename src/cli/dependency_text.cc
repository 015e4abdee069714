#include "cli/dependency_text.h"

#include <fmt/format.h>

#include "cli/amount.h"
#include "util/json.h"

namespace stele::cli {

std::string DependencyText(const archive::Dependency& dependency) {
  return fmt::format("run {} may repeat originals that are kept elsewhere: {}, {}{}",
                     dependency.run, dependency.index, Count(dependency.documents, "document"),
                     dependency.origin.empty() ? "" : fmt::format(" ({})", dependency.origin));
}

std::string DependencyJson(const archive::Dependency& dependency) {
  std::string out = fmt::format("{{\"run\": {}, \"index\": ", dependency.run);
  AppendJsonString(out, dependency.index);
  out += fmt::format(", \"sha256\": \"{}\", \"documents\": {}, \"origin\": ", dependency.sha256,
                     dependency.documents);
  AppendJsonString(out, dependency.origin);
  return out + '}';
}

}  // namespace stele::cli
