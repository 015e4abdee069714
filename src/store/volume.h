#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/stream.h"
#include "store/content_key.h"
#include "util/result.h"

// A volume holds blocks, each with one content and the set of references to it. Whether it lies on
// this machine's disk, in containers or behind a network, it looks like this.
//
// References are sets, not sums. Each reference and each release is an operation with an owner and
// an id; the counter of a block is the number of its references less the number of its releases. An
// operation that is repeated, because its answer was lost, counts once and is answered as before.
namespace stele::store {

// When is a content of a known signature a duplicate?
enum class StoreMode : std::uint8_t {
  kRegular,   // when it has the same size
  kCompare,   // when it has the same bytes; no content is ever lost
  kForceNew,  // never
};

enum class VolumeState : std::uint8_t {
  kWritable,
  kReadOnly,  // takes references and releases, no new blocks
  kFrozen,    // takes nothing
  kFull,      // as kReadOnly; set and lifted by the volume itself, as space goes and comes
};

std::string_view VolumeStateName(VolumeState state);  // "writable", "read-only", ...
std::optional<VolumeState> VolumeStateByName(std::string_view name);

struct Operation {
  std::string owner;  // the application that holds the reference
  std::string id;     // not used before for any other operation, say a UUID

  friend bool operator==(const Operation&, const Operation&) = default;
};

// 1 to 64 characters from '!' to '~' for the owner, up to 128 for the id.
bool IsOperation(const Operation& operation);
bool IsOwner(std::string_view owner);

// Something that was done to a block. Sorted: references first, then by owner and id.
struct BlockOperation {
  enum class Kind : char { kReference = '+', kRelease = '-' };
  Kind kind = Kind::kReference;
  Operation operation;

  friend bool operator==(const BlockOperation&, const BlockOperation&) = default;
};

// What a client tells a member of an instance; a volume by itself does not look at it.
struct HomeTerms {
  std::uint64_t epoch = 0;  // of the composition that the client knows; 0: it knows none
  bool as_home = false;     // the member is asked as the home of the signature, or for it
  // Reference(): a new content will be stored elsewhere: others wait until it is published where.
  // Store(): who may hold it does not answer: there may be two blocks then, which is remembered.
  bool claim = false;
  std::vector<std::string> asked = {};  // volumes that do not have the content
};

struct StoreRequest {
  Signature signature;
  std::uint64_t size = 0;  // of the content
  StoreMode mode = StoreMode::kRegular;
  std::string media_type;  // chooses the compression; may be empty
  Operation operation;
  bool only_if_here = false;       // Store() makes no block: kNotFound instead
  std::uint32_t overflow_min = 0;  // a new block gets this number or a higher one
  HomeTerms home = {};
  // "zstd" or "zstd:9": how to compress it, whatever its media type; empty: as the volume chooses.
  std::string codec = {};
  // "gzip", "zstd": Store() gets the content compressed in this way; empty: as it is. Size and
  // signature are those of the content.
  std::string packed = {};
};

// What is known before a byte of the content is transferred.
struct Lookup {
  enum class Outcome : std::uint8_t {
    kUnknown,     // no such content here
    kReferenced,  // it is here, and the operation is done: `key` is its key
    kCandidate,   // it may be here: kCompare needs the bytes to know
  };
  Outcome outcome = Outcome::kUnknown;
  std::optional<ContentKey> key = {};
  // What a home adds when it could not refer: volumes where the content may lie, and whether
  // members may hold contents that their homes have not been told of.
  std::vector<std::string> elsewhere = {};
  bool unsettled = false;
};

struct Stored {
  ContentKey key;
  bool is_new = false;  // a block was made for it
};

// kNotFound: no content of this signature in the volume is the one that is meant.
Error NoSuchContent(const Signature& signature, std::string_view volume);

struct BlockInfo {
  std::uint64_t size = 0;         // of the content
  std::uint64_t stored_size = 0;  // of the block
  std::uint64_t references = 0;
  std::string compression;
};

// A content as its volume keeps it.
struct PackedContent {
  std::string coding;             // the codec: "gzip", "zstd"; "identity" when it is not compressed
  std::uint64_t size = 0;         // of the content
  std::uint64_t packed_size = 0;  // of `bytes`
  std::unique_ptr<io::Source> bytes;
};

struct ListRequest {
  std::optional<BlockId> after = {};  // none: from the begin
  std::size_t limit = 1000;
  std::string owner = {};  // what this owner holds; empty: everything
};

struct ListedBlock {
  BlockId block;
  std::uint64_t size = 0;        // of the content
  std::uint64_t references = 0;  // of the owner, where the list is of one

  friend bool operator==(const ListedBlock&, const ListedBlock&) = default;
};

// What an owner holds in a volume. Each of its references counts the whole content, whoever else
// refers to it.
struct OwnerUsage {
  std::string owner;
  std::uint64_t references = 0;
  std::uint64_t content_bytes = 0;

  friend bool operator==(const OwnerUsage&, const OwnerUsage&) = default;
};

struct VolumeStats {
  std::uint64_t blocks = 0;
  std::uint64_t references = 0;
  std::uint64_t content_bytes = 0;   // of all distinct contents
  std::uint64_t stored_bytes = 0;    // what the blocks take
  std::uint64_t capacity_bytes = 0;  // what they may take; 0: no limit
};

// Something wrong with a block or with what surrounds it.
struct Finding {
  std::string where;  // a content key, or a path
  ErrorCode code;     // kCorrupt, kNotFound (a block that is referenced) or kInvalid (a leak)
  std::string text;
};

struct CompactOptions {
  // Contents that are kept together are written anew where no more than this share of the space is
  // used.
  double used_share_max = 0.5;
  // How far it is; called by the thread that compacts.
  std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)> progress = nullptr;
  // What is damaged and therefore left as it is.
  std::function<void(const Finding&)> report = nullptr;
  // Asked now and then; when it says so, the rest stays as it is.
  std::function<bool()> stop = nullptr;
};

struct VerifyOptions {
  // What is wrong.
  std::function<void(const Finding&)> report;
  // How many blocks have been read; called by the thread that verifies.
  std::function<void(std::uint64_t blocks)> progress = nullptr;
};

// Thread-safe: many callers at once; what changes one block happens one after another. What
// succeeded is durable. Errors of every call: kIo, naming the volume, after which writing may need
// a new opening; kInvalid for a request that breaks the rules above.
class Volume {
 public:
  virtual ~Volume() = default;

  virtual const std::string& name() const = 0;
  virtual VolumeState state() const = 0;
  // kFull cannot be set. Durable.
  virtual Status SetState(VolumeState state) = 0;

  // The first step of a store. A duplicate gets its reference here and its bytes are never sent.
  // Errors: kFull when frozen.
  virtual Result<Lookup> Reference(const StoreRequest& request) = 0;

  // The second step: reads `content` to its end and makes a block, an overflow block where another
  // content has the signature, or a reference where the content has come in the meantime.
  // Errors: kFull when the volume takes no new blocks, in its state or for lack of space: store
  // elsewhere; kNotFound when only_if_here and it is not; kInvalid when the bytes do not have the
  // size or signature of the request; those of `content`.
  virtual Result<Stored> Store(const StoreRequest& request, io::Source& content) = 0;

  // Writes the bytes of a block anew, `size` of them, because they are damaged or missing; who
  // refers to it stays as it is. Errors: kNotFound when nobody refers to it; kInvalid when the
  // bytes do not have its size or signature; kFull when the volume takes no new blocks.
  virtual Status Restore(const ContentKey& key, std::uint64_t size, io::Source& content) = 0;

  // The content, in flat memory. The stream stays good when the block is deleted meanwhile. It
  // ends in kCorrupt instead of the end where the bytes are not those that were stored.
  // Errors: kNotFound; kCorrupt; kInvalid for a compression that is not known here.
  virtual Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key) = 0;

  // The same, compressed as it is kept where the volume can do that, for readers who verify the
  // content themselves: nobody has looked whether these are the bytes that were stored.
  virtual Result<PackedContent> RetrievePacked(const ContentKey& key);

  // At most `length` bytes of the content from `offset` on, also unverified. Where the content is
  // kept in a file of its own and not compressed, nothing before `offset` is read.
  virtual Result<std::unique_ptr<io::Source>> RetrieveRange(const ContentKey& key,
                                                            std::uint64_t offset,
                                                            std::uint64_t length);

  // Adds a reference to exactly this block. Errors: kNotFound; kCorrupt; kFull when frozen.
  virtual Status Refer(const ContentKey& key, const Operation& operation) = 0;

  // Takes back one reference of the operation's owner; with the last one of all owners the block
  // goes. Errors: kNotFound when the owner has none; kFull when frozen.
  virtual Status Delete(const ContentKey& key, const Operation& operation) = 0;

  // Errors: kNotFound, kCorrupt.
  virtual Result<BlockInfo> Stat(const ContentKey& key) = 0;

  // The references that one owner has to a block; 0 for a block that is not here.
  virtual Result<std::uint64_t> Held(const ContentKey& key, const std::string& owner) = 0;

  // What was ever done to a block, in order, at most `limit` operations behind `after`; fewer mean
  // that there are no more. None for a block that never was. A number that has been given to
  // several contents, one after another, may have the operations of earlier ones, too.
  virtual Result<std::vector<BlockOperation>> Operations(const ContentKey& key,
                                                         const std::optional<BlockOperation>& after,
                                                         std::size_t limit) = 0;

  // Blocks that have references, by signature and number; fewer than the limit mean that there are
  // no more. What changes between two calls may be seen or not.
  virtual Result<std::vector<ListedBlock>> List(const ListRequest& request) = 0;

  // Who holds something here, by name, and what one owner holds. Costs nothing.
  virtual Result<std::vector<OwnerUsage>> Owners() = 0;
  virtual Result<OwnerUsage> UsageOf(const std::string& owner) = 0;

  virtual Result<VolumeStats> Stats() = 0;

  // What was acknowledged is on the disk afterwards, also in a volume that acknowledges earlier.
  virtual Status Sync() { return {}; }

  // Reads everything: each block against its signature, its counter against its references, what
  // owners hold against the sums. What changes meanwhile is not reported. Behind a network, every
  // block is read and compared with its signature and size, and no more. Returns the number of
  // blocks read. Errors: only those that make going on impossible.
  virtual Result<std::uint64_t> Verify(const VerifyOptions& options) = 0;

  // Gives back the space of what nobody refers to, while others store and read. Returns the bytes
  // that are free now. Errors: kFull when frozen, or when there is no room to work; kCorrupt when
  // references may have been lost; kBusy when a server has another one under way.
  virtual Result<std::uint64_t> Compact(const CompactOptions& options) = 0;
};

}  // namespace stele::store
