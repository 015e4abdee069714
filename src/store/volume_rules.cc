#include "store/volume_rules.h"

#include <fmt/format.h>

namespace stele::store {

Status CheckOperation(const Operation& operation) {
  if (IsOperation(operation)) return {};
  return Error{ErrorCode::kInvalid,
               "an owner has 1 to 64 and an operation id 1 to 128 printable characters"};
}

Status CheckSignature(const Signature& signature, std::string_view volume,
                      const SignatureFunction& function) {
  if (signature.bytes().size() == function.size()) return {};
  return Error{ErrorCode::kInvalid, fmt::format("volume {} has signatures of {}, {} bytes each",
                                                volume, function.name(), function.size())};
}

Status CheckKey(const ContentKey& key, std::string_view volume, const SignatureFunction& function) {
  if (key.volume != volume) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} is not a key of volume {}", key.Text(), volume)};
  }
  if (key.signature.bytes().size() != function.size()) return NotHere(key);
  return {};
}

Error NotHere(const ContentKey& key) {
  return {ErrorCode::kNotFound, fmt::format("there is no content {}", key.Text())};
}

Error TakesNoBlocks(const Volume& volume) {
  return {ErrorCode::kFull, fmt::format("volume {} takes no new blocks: it is {}", volume.name(),
                                        VolumeStateName(volume.state()))};
}

Result<std::optional<Stored>> StoreUnread(Volume& volume, const StoreRequest& request) {
  const Result<Lookup> found = volume.Reference(request);
  if (!found) return found.error();
  if (found->outcome == Lookup::Outcome::kReferenced) {
    return std::optional(Stored{*found->key, false});
  }
  if (found->outcome == Lookup::Outcome::kUnknown) {
    if (request.only_if_here) return NoSuchContent(request.signature, volume.name());
    if (volume.state() != VolumeState::kWritable) return TakesNoBlocks(volume);
  }
  return std::optional<Stored>();
}

}  // namespace stele::store
