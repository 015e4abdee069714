#pragma once

#include "cli/command.h"
#include "store/local_store.h"

// `stele store ...`: the deduplicating store by itself. One source each.
namespace stele::cli {

Command StoreCommand();  // all of them

Command StoreAddVolumeCommand();
Command StoreCheckCommand();
Command StoreGetCommand();
Command StorePutCommand();
Command StoreRmCommand();
Command StoreStatCommand();

// Options that these commands share, and their values.
std::vector<Option> WithStoreOptions(std::vector<Option> options);
std::vector<Option> WithOwnerOptions(std::vector<Option> options);

// Opens the store that --store names. Complains about volumes that cannot be opened, and about a
// store that cannot: nothing then, and `code` says why.
std::optional<store::LocalStore> OpenStore(const Arguments& arguments, Context& context,
                                           ExitCode& code);

// By --owner and --operation; a new id when none was given.
store::Operation OperationOf(const Arguments& arguments, Context& context);

// Complains and says nothing when `text` is no key.
std::optional<store::ContentKey> KeyOf(const std::string& text, Context& context);

}  // namespace stele::cli
