// Lists of blocks, operations and owners.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "store/remote/wire.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::store::wire {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kKinds[] = {"reference", "release"};

std::string_view KindName(BlockOperation::Kind kind) {
  return kKinds[kind == BlockOperation::Kind::kReference ? 0 : 1];
}

std::optional<BlockOperation::Kind> KindByName(std::string_view name) {
  if (name == kKinds[0]) return BlockOperation::Kind::kReference;
  if (name == kKinds[1]) return BlockOperation::Kind::kRelease;
  return std::nullopt;
}

std::string Value(const Query& query, std::string_view name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

Error Wrong(std::string_view parameter, std::string_view wanted) {
  return {ErrorCode::kInvalid, fmt::format("parameter '{}' must be {}", parameter, wanted)};
}

Result<std::size_t> LimitFrom(const Query& query) {
  if (!query.contains("limit")) return kListEntriesMax;
  const auto limit = ParseDecimal(Value(query, "limit"));
  if (!limit || *limit == 0 || *limit > kListEntriesMax) {
    return Wrong("limit", fmt::format("a number from 1 to {}", kListEntriesMax));
  }
  return static_cast<std::size_t>(*limit);
}

std::string Text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || !found->is_string() ? "" : found->get<std::string>();
}

std::optional<std::uint64_t> Number(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

template <typename T>
std::string ArrayJson(std::string_view name, const std::vector<T>& items,
                      const std::function<void(std::string&, const T&)>& append) {
  std::string json = fmt::format("{{\"{}\": [", name);
  for (const T& item : items) {
    json += &item == items.data() ? "\n" : ",\n";
    append(json, item);
  }
  return json + "\n]}\n";
}

// `read` takes one object; nothing: it is not understood.
template <typename T>
Result<std::vector<T>> ArrayFrom(std::string_view text, const char* name,
                                 const std::function<std::optional<T>(const Json&)>& read) {
  const Error garbage{ErrorCode::kCorrupt,
                      fmt::format("the answer is not understood: no {}", name)};
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return garbage;
  const auto array = json.find(name);
  if (array == json.end() || !array->is_array()) return garbage;
  std::vector<T> items;
  for (const Json& object : *array) {
    std::optional<T> item = object.is_object() ? read(object) : std::nullopt;
    if (!item) return garbage;
    items.push_back(*std::move(item));
  }
  return items;
}

}  // namespace

Result<ListRequest> ListRequestFrom(const Query& query) {
  const Result<std::size_t> limit = LimitFrom(query);
  if (!limit) return limit.error();
  ListRequest request{std::nullopt, *limit, Value(query, "owner")};
  if (query.contains("after")) {
    request.after = ParseBlockName(Value(query, "after"));
    if (!request.after) return Wrong("after", "SIGNATURE or SIGNATURE.NUMBER");
  }
  if (query.contains("owner") && !IsOwner(request.owner)) {
    return Wrong("owner", "1 to 64 printable characters without spaces");
  }
  return request;
}

Query QueryOf(const ListRequest& request) {
  Query query{{"limit", fmt::to_string(request.limit)}};
  if (request.after) query["after"] = BlockName(request.after->signature, request.after->overflow);
  if (!request.owner.empty()) query["owner"] = request.owner;
  return query;
}

Result<OperationsRequest> OperationsRequestFrom(const Query& query) {
  const Result<std::size_t> limit = LimitFrom(query);
  if (!limit) return limit.error();
  OperationsRequest request{std::nullopt, *limit};
  if (!query.contains("after_kind")) return request;
  const auto kind = KindByName(Value(query, "after_kind"));
  if (!kind) return Wrong("after_kind", "reference or release");
  const Operation operation{Value(query, "after_owner"), Value(query, "after_operation")};
  if (!IsOperation(operation)) return Wrong("after_operation", "an operation, with 'after_owner'");
  request.after = BlockOperation{*kind, operation};
  return request;
}

Query QueryOf(const OperationsRequest& request) {
  Query query{{"limit", fmt::to_string(request.limit)}};
  if (request.after) {
    query["after_kind"] = KindName(request.after->kind);
    query["after_owner"] = request.after->operation.owner;
    query["after_operation"] = request.after->operation.id;
  }
  return query;
}

std::string HeldJson(std::uint64_t references) {
  return fmt::format("{{\"references\": {}}}\n", references);
}

Result<std::uint64_t> HeldFrom(std::string_view json) {
  const Json object = Json::parse(json, nullptr, false);
  const auto references = object.is_object() ? Number(object, "references") : std::nullopt;
  if (!references) return Error{ErrorCode::kCorrupt, "the answer is not understood: no references"};
  return *references;
}

std::string OperationsJson(const std::vector<BlockOperation>& operations) {
  return ArrayJson<BlockOperation>(
      "operations", operations, [](std::string& json, const BlockOperation& item) {
        json += fmt::format("{{\"kind\": \"{}\", \"owner\": ", KindName(item.kind));
        AppendJsonString(json, item.operation.owner);
        json += ", \"operation\": ";
        AppendJsonString(json, item.operation.id);
        json += '}';
      });
}

Result<std::vector<BlockOperation>> OperationsFrom(std::string_view json) {
  return ArrayFrom<BlockOperation>(
      json, "operations", [](const Json& object) -> std::optional<BlockOperation> {
        const auto kind = KindByName(Text(object, "kind"));
        Operation operation{Text(object, "owner"), Text(object, "operation")};
        if (!kind || !IsOperation(operation)) return std::nullopt;
        return BlockOperation{*kind, std::move(operation)};
      });
}

std::string ListJson(const std::vector<ListedBlock>& blocks) {
  return ArrayJson<ListedBlock>("contents", blocks, [](std::string& json, const ListedBlock& item) {
    json += fmt::format("{{\"block\": \"{}\", \"size\": {}, \"references\": {}}}",
                        BlockName(item.block.signature, item.block.overflow), item.size,
                        item.references);
  });
}

Result<std::vector<ListedBlock>> ListFrom(std::string_view json) {
  return ArrayFrom<ListedBlock>(json, "contents",
                                [](const Json& object) -> std::optional<ListedBlock> {
                                  const auto block = ParseBlockName(Text(object, "block"));
                                  const auto size = Number(object, "size");
                                  const auto references = Number(object, "references");
                                  if (!block || !size || !references) return std::nullopt;
                                  return ListedBlock{*block, *size, *references};
                                });
}

std::string OwnersJson(const std::vector<OwnerUsage>& owners) {
  return ArrayJson<OwnerUsage>("owners", owners, [](std::string& json, const OwnerUsage& item) {
    json += "{\"owner\": ";
    AppendJsonString(json, item.owner);
    json += fmt::format(", \"references\": {}, \"content_bytes\": {}}}", item.references,
                        item.content_bytes);
  });
}

Result<std::vector<OwnerUsage>> OwnersFrom(std::string_view json) {
  return ArrayFrom<OwnerUsage>(json, "owners", [](const Json& object) -> std::optional<OwnerUsage> {
    OwnerUsage usage{Text(object, "owner"), 0, 0};
    const auto references = Number(object, "references");
    const auto bytes = Number(object, "content_bytes");
    if (!IsOwner(usage.owner) || !references || !bytes) return std::nullopt;
    usage.references = *references;
    usage.content_bytes = *bytes;
    return usage;
  });
}

}  // namespace stele::store::wire
