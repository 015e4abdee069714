#include "store/remote/wire.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>

#include "store/compression.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::store::wire {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 3> kModes = {"regular", "compare", "force-new"};

struct CodeRow {
  ErrorCode code;
  std::string_view name;
  int status;
};
constexpr std::array<CodeRow, 7> kCodes = {{
    {ErrorCode::kNotFound, "not-found", 404},
    {ErrorCode::kCorrupt, "corrupt", 500},
    {ErrorCode::kIo, "io", 500},
    {ErrorCode::kInvalid, "invalid", 400},
    {ErrorCode::kBusy, "busy", 503},
    {ErrorCode::kFull, "full", 507},
    {ErrorCode::kOutdated, "epoch", 409},
}};

constexpr std::size_t kErrorTextMax = 1000;
constexpr std::size_t kMediaTypeLengthMax = 255;

const CodeRow& RowOf(ErrorCode code) {
  for (const CodeRow& row : kCodes) {
    if (row.code == code) return row;
  }
  return kCodes[2];
}

Error Wrong(std::string_view parameter, std::string_view wanted) {
  return {ErrorCode::kInvalid, fmt::format("parameter '{}' must be {}", parameter, wanted)};
}

std::optional<std::string> Decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.size() - i < 3 || !IsAsciiHexDigit(text[i + 1]) || !IsAsciiHexDigit(text[i + 2])) {
      return std::nullopt;
    }
    out += static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
    i += 2;
  }
  return out;
}

void AppendEncoded(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (IsAsciiAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

std::string_view Value(const Query& query, std::string_view name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string_view() : std::string_view(found->second);
}

Error Garbage(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("the answer is not understood: {}", what)};
}

// An object, or null. nlohmann reads nested values without recursion, and answers are bounded.
Json ObjectFrom(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return nullptr;
  return json;
}

std::optional<std::string> Text(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::uint64_t> Number(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::optional<ContentKey> KeyFrom(const Json& object, std::string_view volume,
                                  const Signature& signature) {
  const std::optional<std::string> text = Text(object, "key");
  std::optional<ContentKey> key = text ? ContentKey::Parse(*text) : std::nullopt;
  if (!key || key->volume != volume || !(key->signature == signature)) return std::nullopt;
  return key;
}

}  // namespace

std::string_view ModeName(StoreMode mode) { return kModes[static_cast<std::size_t>(mode)]; }

std::optional<StoreMode> ModeByName(std::string_view name) {
  for (std::size_t i = 0; i < kModes.size(); ++i) {
    if (kModes[i] == name) return static_cast<StoreMode>(i);
  }
  return std::nullopt;
}

std::string_view CodeName(ErrorCode code) { return RowOf(code).name; }
int StatusOf(ErrorCode code) { return RowOf(code).status; }

Result<Query> ParseQuery(std::string_view text) {
  Query query;
  if (text.empty()) return query;
  for (const std::string_view part : Split(text, '&')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    std::optional<std::string> name = Decode(part.substr(0, equals));
    std::optional<std::string> value = Decode(part.substr(std::min(equals + 1, part.size())));
    if (!name || !value) return Error{ErrorCode::kInvalid, "the query has a bad %XX"};
    if (!query.emplace(*std::move(name), *std::move(value)).second) {
      return Error{ErrorCode::kInvalid, "a parameter of the query stands twice"};
    }
  }
  return query;
}

std::string FormatQuery(const Query& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    if (!text.empty()) text += '&';
    AppendEncoded(text, name);
    text += '=';
    AppendEncoded(text, value);
  }
  return text;
}

Result<Operation> OperationFrom(const Query& query) {
  Operation operation{std::string(Value(query, "owner")), std::string(Value(query, "operation"))};
  if (!IsOperation(operation)) {
    return Error{ErrorCode::kInvalid,
                 "parameter 'owner' must be 1 to 64 and 'operation' 1 to 128 printable characters, "
                 "without spaces"};
  }
  return operation;
}

Result<StoreRequest> StoreRequestFrom(const Query& query) {
  const std::optional<Signature> signature = Signature::Parse(Value(query, "signature"));
  if (!signature) return Wrong("signature", "2 to 128 hexadecimal digits in upper case");
  const auto size = ParseDecimal(Value(query, "size"));
  if (!size) return Wrong("size", "the content's size in bytes");
  const auto mode = query.contains("mode") ? ModeByName(Value(query, "mode")) : StoreMode::kRegular;
  if (!mode) return Wrong("mode", "regular, compare or force-new");
  const std::string_view type = Value(query, "type");
  if (type.size() > kMediaTypeLengthMax) return Wrong("type", "at most 255 characters");
  const std::string_view codec = Value(query, "codec");
  if (!codec.empty() && !ParseCompression(codec)) return Wrong("codec", "a codec such as zstd:9");
  Result<Operation> operation = OperationFrom(query);
  if (!operation) return operation.error();
  StoreRequest request{*signature, *size, *mode, std::string(type), *std::move(operation)};
  request.codec = codec;
  for (const auto& [name, flag] :
       {std::pair{"only-if-here", &request.only_if_here}, std::pair{"home", &request.home.as_home},
        std::pair{"claim", &request.home.claim}}) {
    if (!query.contains(name)) continue;
    if (Value(query, name) != "true") return Wrong(name, "true, or missing");
    *flag = true;
  }
  if (!query.contains("asked")) return request;
  for (const std::string_view volume : Split(Value(query, "asked"), ',')) {
    if (!IsVolumeName(volume)) return Wrong("asked", "names of volumes, with commas between them");
    request.home.asked.emplace_back(volume);
  }
  return request;
}

Query QueryOf(const Operation& operation) {
  return {{"owner", operation.owner}, {"operation", operation.id}};
}

Query QueryOf(const StoreRequest& request) {
  Query query = QueryOf(request.operation);
  query["signature"] = request.signature.Hex();
  query["size"] = fmt::to_string(request.size);
  query["mode"] = ModeName(request.mode);
  if (!request.media_type.empty()) query["type"] = request.media_type;
  if (request.only_if_here) query["only-if-here"] = "true";
  if (request.home.as_home) query["home"] = "true";
  if (request.home.claim) query["claim"] = "true";
  if (!request.home.asked.empty())
    query["asked"] = fmt::to_string(fmt::join(request.home.asked, ","));
  if (!request.codec.empty()) query["codec"] = request.codec;
  return query;
}

std::string ErrorJson(std::string_view code, std::string_view text) {
  std::string json = "{\"error\": {\"code\": ";
  AppendJsonString(json, code);
  json += ", \"text\": ";
  AppendJsonString(json, text);
  return json + "}}\n";
}

std::string LookupJson(const Lookup& lookup) {
  if (lookup.outcome == Lookup::Outcome::kReferenced) {
    return fmt::format("{{\"outcome\": \"referenced\", \"key\": \"{}\"}}\n", lookup.key->Text());
  }
  const bool may_be_here = lookup.outcome == Lookup::Outcome::kCandidate;
  std::string json = fmt::format("{{\"outcome\": \"{}\"", may_be_here ? "candidate" : "unknown");
  if (!lookup.elsewhere.empty()) {
    json += fmt::format(", \"elsewhere\": [\"{}\"]", fmt::join(lookup.elsewhere, "\", \""));
  }
  if (lookup.unsettled) json += ", \"unsettled\": true";
  return json + "}\n";
}

std::string StoredJson(const Stored& stored) {
  return fmt::format("{{\"key\": \"{}\", \"new\": {}}}\n", stored.key.Text(), stored.is_new);
}

std::string InfoJson(const ContentKey& key, const BlockInfo& info) {
  std::string json = fmt::format(
      "{{\"key\": \"{}\", \"size\": {}, \"stored_size\": {}, \"references\": {}, "
      "\"compression\": ",
      key.Text(), info.size, info.stored_size, info.references);
  AppendJsonString(json, info.compression);
  return json + "}\n";
}

std::string StatsJson(std::string_view volume, VolumeState state, const VolumeStats& stats) {
  return fmt::format(
      "{{\"volume\": \"{}\", \"state\": \"{}\", \"blocks\": {}, \"references\": {}, "
      "\"content_bytes\": {}, \"stored_bytes\": {}, \"capacity_bytes\": {}}}\n",
      volume, VolumeStateName(state), stats.blocks, stats.references, stats.content_bytes,
      stats.stored_bytes, stats.capacity_bytes);
}

Result<Lookup> LookupFrom(std::string_view json, std::string_view volume,
                          const Signature& signature) {
  const Json object = ObjectFrom(json);
  const std::optional<std::string> outcome = Text(object, "outcome");
  if (outcome == "referenced") {
    std::optional<ContentKey> key = KeyFrom(object, volume, signature);
    if (!key) return Garbage("no key of this content");
    return Lookup{Lookup::Outcome::kReferenced, std::move(key)};
  }
  Lookup lookup;
  if (outcome == "candidate") lookup.outcome = Lookup::Outcome::kCandidate;
  if (outcome != "candidate" && outcome != "unknown") return Garbage("no outcome");
  const auto unsettled = object.find("unsettled");
  lookup.unsettled = unsettled != object.end() && *unsettled == true;
  const auto elsewhere = object.find("elsewhere");
  if (elsewhere == object.end()) return lookup;
  if (!elsewhere->is_array()) return Garbage("no volumes");
  for (const Json& name : *elsewhere) {
    if (!name.is_string() || !IsVolumeName(name.get<std::string>())) return Garbage("no volumes");
    lookup.elsewhere.push_back(name.get<std::string>());
  }
  return lookup;
}

Result<Stored> StoredFrom(std::string_view json, std::string_view volume,
                          const Signature& signature) {
  const Json object = ObjectFrom(json);
  std::optional<ContentKey> key = KeyFrom(object, volume, signature);
  if (!key) return Garbage("no key of this content");
  const auto is_new = object.find("new");
  if (is_new == object.end() || !is_new->is_boolean()) return Garbage("new or not is missing");
  return Stored{*std::move(key), is_new->get<bool>()};
}

Result<BlockInfo> InfoFrom(std::string_view json) {
  const Json object = ObjectFrom(json);
  const auto size = Number(object, "size");
  const auto stored_size = Number(object, "stored_size");
  const auto references = Number(object, "references");
  auto compression = Text(object, "compression");
  if (!size || !stored_size || !references || !compression) return Garbage("no block");
  return BlockInfo{*size, *stored_size, *references, *std::move(compression)};
}

Result<VolumeStats> StatsFrom(std::string_view json) {
  const Json object = ObjectFrom(json);
  const auto blocks = Number(object, "blocks");
  const auto references = Number(object, "references");
  const auto content = Number(object, "content_bytes");
  const auto stored = Number(object, "stored_bytes");
  const auto capacity = Number(object, "capacity_bytes");
  if (!blocks || !references || !content || !stored || !capacity) return Garbage("no volume");
  return VolumeStats{*blocks, *references, *content, *stored, *capacity};
}

Error ErrorFrom(std::string_view json) {
  const Json object = ObjectFrom(json);
  const auto error = object.find("error");
  if (error == object.end() || !error->is_object()) return Garbage("no error told");
  const std::optional<std::string> name = Text(*error, "code");
  const std::optional<std::string> text = Text(*error, "text");
  if (!name || !text) return Garbage("no error told");
  const std::string told = text->substr(0, kErrorTextMax);
  for (const CodeRow& row : kCodes) {
    if (row.name == *name) return {row.code, told};
  }
  return {ErrorCode::kInvalid, told};
}

}  // namespace stele::store::wire
