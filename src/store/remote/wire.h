#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/volume.h"
#include "util/result.h"

// The words that a volume server and its clients exchange: queries and JSON, both ways. What is
// parsed comes from outside. docs/store-api.yaml is the contract.
namespace stele::store::wire {

// Every answer about a volume has its state in this header.
inline constexpr std::string_view kStateHeader = "Stele-Volume-State";
// The size of a content that comes compressed.
inline constexpr std::string_view kContentSizeHeader = "Stele-Content-Size";
// The epoch of the composition that a client knows. Requests without it are let in.
inline constexpr std::string_view kEpochHeader = "Stele-Epoch";
// JSON that is longer is nothing a volume server says, except in lists.
inline constexpr std::size_t kAnswerSizeMax = std::size_t{64} << 10;
// Lists come in pages.
inline constexpr std::size_t kListEntriesMax = 10'000;
inline constexpr std::size_t kListSizeMax = kListEntriesMax * 512;

std::string_view ModeName(StoreMode mode);  // "regular", "compare", "force-new"
std::optional<StoreMode> ModeByName(std::string_view name);

std::string_view CodeName(ErrorCode code);  // "not-found", "corrupt", "io", ...
int StatusOf(ErrorCode code);               // 404, 500, ...

// "a=b&c=d", each name once, values percent-encoded; '+' is itself.
using Query = std::map<std::string, std::string, std::less<>>;
// Errors: kInvalid for a name that stands twice or a bad %XX.
Result<Query> ParseQuery(std::string_view text);
std::string FormatQuery(const Query& query);

// Errors: kInvalid, naming the parameter.
Result<Operation> OperationFrom(const Query& query);
Result<StoreRequest> StoreRequestFrom(const Query& query);
Query QueryOf(const Operation& operation);
Query QueryOf(const StoreRequest& request);
Result<ListRequest> ListRequestFrom(const Query& query);
Query QueryOf(const ListRequest& request);
// A page of a block's operations.
struct OperationsRequest {
  std::optional<BlockOperation> after;
  std::size_t limit = kListEntriesMax;
};
Result<OperationsRequest> OperationsRequestFrom(const Query& query);
Query QueryOf(const OperationsRequest& request);

// What servers write.
std::string ErrorJson(std::string_view code, std::string_view text);
std::string LookupJson(const Lookup& lookup);
std::string StoredJson(const Stored& stored);
std::string InfoJson(const ContentKey& key, const BlockInfo& info);
std::string StatsJson(std::string_view volume, VolumeState state, const VolumeStats& stats);
std::string HeldJson(std::uint64_t references);
std::string OperationsJson(const std::vector<BlockOperation>& operations);
std::string ListJson(const std::vector<ListedBlock>& blocks);
std::string OwnersJson(const std::vector<OwnerUsage>& owners);

// What clients read. Errors: kCorrupt for anything else than the above. Keys are of the volume and
// signature that were asked about, or the answer is corrupt.
Result<Lookup> LookupFrom(std::string_view json, std::string_view volume,
                          const Signature& signature);
Result<Stored> StoredFrom(std::string_view json, std::string_view volume,
                          const Signature& signature);
Result<BlockInfo> InfoFrom(std::string_view json);
Result<VolumeStats> StatsFrom(std::string_view json);
Result<std::uint64_t> HeldFrom(std::string_view json);
Result<std::vector<BlockOperation>> OperationsFrom(std::string_view json);
Result<std::vector<ListedBlock>> ListFrom(std::string_view json);
Result<std::vector<OwnerUsage>> OwnersFrom(std::string_view json);
// The error that the JSON tells, of bounded length; kCorrupt where it tells none.
Error ErrorFrom(std::string_view json);

}  // namespace stele::store::wire
