#include "store/remote/wire_compact.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "store/remote/wire.h"
#include "util/json.h"

namespace stele::store::wire {
namespace {

using Json = nlohmann::json;

std::optional<std::uint64_t> Number(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

struct LineWriter {
  std::string operator()(const CompactProgress& progress) const {
    return fmt::format("{{\"done_bytes\": {}, \"all_bytes\": {}}}\n", progress.done_bytes,
                       progress.all_bytes);
  }
  std::string operator()(const Finding& finding) const {
    std::string json = "{\"where\": ";
    AppendJsonString(json, finding.where);
    return json + ", " + ErrorJson(CodeName(finding.code), finding.text).substr(1);
  }
  std::string operator()(const Compacted& compacted) const {
    return fmt::format("{{\"freed_bytes\": {}}}\n", compacted.freed_bytes);
  }
  std::string operator()(const Error& error) const {
    return ErrorJson(CodeName(error.code), error.text);
  }
};

}  // namespace

std::string CompactLineJson(const CompactLine& line) { return std::visit(LineWriter(), line); }

Result<CompactLine> CompactLineFrom(std::string_view json) {
  const Json object = Json::parse(json, nullptr, false);
  const Error garbage{ErrorCode::kCorrupt, "the answer is not understood: a line of a compaction"};
  if (!object.is_object()) return garbage;
  if (const auto freed = Number(object, "freed_bytes")) return CompactLine(Compacted{*freed});
  const auto done = Number(object, "done_bytes");
  const auto all = Number(object, "all_bytes");
  if (done && all) return CompactLine(CompactProgress{*done, *all});
  if (!object.contains("error")) return garbage;
  const Error error = ErrorFrom(json);
  const auto where = object.find("where");
  if (where == object.end()) return CompactLine(error);
  if (!where->is_string()) return garbage;
  return CompactLine(Finding{where->get<std::string>(), error.code, error.text});
}

}  // namespace stele::store::wire
