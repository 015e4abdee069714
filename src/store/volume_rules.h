#pragma once

#include <optional>
#include <string_view>

#include "store/signature.h"
#include "store/volume.h"

// What volumes of all kinds ask of requests and keys, and how they refuse them.
namespace stele::store {

// Errors: kInvalid.
Status CheckOperation(const Operation& operation);
Status CheckSignature(const Signature& signature, std::string_view volume,
                      const SignatureFunction& function);

// Errors: kInvalid for a key of another volume; kNotFound for one that cannot be of this one.
Status CheckKey(const ContentKey& key, std::string_view volume, const SignatureFunction& function);

Error NotHere(const ContentKey& key);       // kNotFound
Error TakesNoBlocks(const Volume& volume);  // kFull, with its state

// What Store() does before it takes a content in: nothing where that has to be done; otherwise the
// operation is done already. Errors: those of Volume::Store().
Result<std::optional<Stored>> StoreUnread(Volume& volume, const StoreRequest& request);

}  // namespace stele::store
