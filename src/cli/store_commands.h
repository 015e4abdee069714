#pragma once

#include "cli/command.h"
#include "cli/temporary_folder.h"
#include "net/http_client.h"
#include "store/local_store.h"

// `stele store ...`: the deduplicating store by itself. One source each.
namespace stele::cli {

Command StoreCommand();  // all of them

Command StoreAddVolumeCommand();
Command StoreCheckCommand();
Command StoreCompactCommand();
Command StoreGetCommand();
Command StoreLsCommand();
Command StoreMigrateCommand();
Command StorePutCommand();
Command StoreRehomeCommand();
Command StoreReindexCommand();
Command StoreRepairCommand();
Command StoreRmCommand();
Command StoreServeCommand();
Command StoreSetDurabilityCommand();
Command StoreSetStateCommand();
Command StoreStatCommand();
Command StoreStatsCommand();
Command StoreSweepCommand();

// Options that these commands share, and their values.
std::vector<Option> WithStoreOptions(std::vector<Option> options);      // --store
std::vector<Option> WithConnectorOptions(std::vector<Option> options);  // or --connector
std::vector<Option> WithOwnerOptions(std::vector<Option> options);

// A store on this machine, or one behind a network.
struct OpenedStore {
  std::unique_ptr<TemporaryFolder> folder;  // null on this machine; the instance uses it
  std::unique_ptr<net::HttpClient> client;  // null on this machine; the instance borrows it
  std::unique_ptr<store::Instance> instance;
  std::vector<Error> failures;  // of volumes that could not be opened
};

// Opens the store that --store or --connector names. Complains about volumes that cannot be opened,
// and about a store that cannot: nothing then, and `code` says why.
std::optional<OpenedStore> OpenStore(const Arguments& arguments, Context& context, ExitCode& code);

// What is in the file that --token-file names, without spaces at its ends; empty without the
// option. Errors: kInvalid for an empty file; those of reading.
Result<std::string> TokenOf(const Arguments& arguments, Context& context);

// By --owner and --operation; a new id when none was given.
store::Operation OperationOf(const Arguments& arguments, Context& context);

// By --copies. 0 when the value is wrong; a complaint has then been made.
int CopiesOf(const Arguments& arguments, Context& context);

// "KEY: what is wrong", or the same as a JSON object; with its line feed.
std::string FindingLine(const store::Finding& finding, bool json);

// The keys that the command line names; "-" is those that begin the lines of the standard input, as
// put and ls print them. Complains and says nothing when something is no key, or when none came.
std::optional<std::vector<store::ContentKey>> KeysOf(const Arguments& arguments, Context& context);

}  // namespace stele::cli
