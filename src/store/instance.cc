#include "store/instance.h"

#include <fmt/format.h>

#include <set>

#include "util/check.h"

namespace stele::store {
namespace {

constexpr std::size_t kPiece = 64 << 10;

// Reads part of a file as a stream. Borrows the file.
class BorrowedFileSource final : public io::Source {
 public:
  explicit BorrowedFileSource(const io::ReadableFile& file) : file_(file) {}
  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = file_.ReadAt(offset_, out);
    if (read) offset_ += *read;
    return read;
  }

 private:
  const io::ReadableFile& file_;
  std::uint64_t offset_ = 0;
};

Error UnknownVolume(std::string_view name) {
  return {ErrorCode::kNotFound, fmt::format("there is no volume {} here", name)};
}

}  // namespace

// A content that can be read as often as needed, with its size and signature.
class Instance::Content {
 public:
  explicit Content(std::string_view bytes) : bytes_(bytes) {}
  explicit Content(const io::ReadableFile& file) : file_(&file) {}

  Status Sign(const SignatureFunction& function) {
    const std::unique_ptr<SignatureStream> signing = function.NewStream();
    const std::unique_ptr<io::Source> source = Read();
    std::string piece(kPiece, '\0');
    for (;;) {
      const Result<std::size_t> read = source->Read(piece);
      if (!read) return read.error();
      if (*read == 0) break;
      signing->Update(std::string_view(piece).substr(0, *read));
      size_ += *read;
    }
    signature_ = signing->Finish();
    return {};
  }

  std::unique_ptr<io::Source> Read() const {
    if (file_ != nullptr) return std::make_unique<BorrowedFileSource>(*file_);
    return std::make_unique<io::MemorySource>(bytes_);
  }

  // Requires: Sign() succeeded.
  const Signature& signature() const { return *signature_; }
  std::uint64_t size() const { return size_; }

 private:
  std::string_view bytes_;
  const io::ReadableFile* file_ = nullptr;  // null: bytes_
  std::uint64_t size_ = 0;
  std::optional<Signature> signature_;
};

Instance::Instance(std::vector<std::unique_ptr<Volume>> volumes, Options options)
    : volumes_(std::move(volumes)), options_(std::move(options)) {
  Check(!volumes_.empty() && options_.signature != nullptr);
  composition_.signature = options_.signature->name();
  composition_.placement = options_.placement;
  std::set<std::string> names;
  for (const auto& volume : volumes_) {
    Check(names.insert(volume->name()).second);
    composition_.volumes.push_back(volume->name());
  }
}

Instance::~Instance() = default;

Volume* Instance::Find(std::string_view volume) const {
  for (const auto& known : volumes_) {
    if (known->name() == volume) return known.get();
  }
  return nullptr;
}

std::vector<Volume*> Instance::OrderFor(const Signature& signature) const {
  std::vector<Volume*> order;
  for (const std::size_t place : composition_.OrderFor(signature)) {
    order.push_back(volumes_[place].get());
  }
  return order;
}

Result<Stored> Instance::Store(std::string_view content, const StoreOptions& options) {
  Content signed_content(content);
  const Status done = signed_content.Sign(*options_.signature);
  if (!done) return done.error();
  return StoreContent(signed_content, options);
}

// A pipe goes to memory, and to a file once it is too large for that.
Result<Stored> Instance::Store(io::Source& content, const StoreOptions& options) {
  if (content.file() != nullptr) {
    Content signed_content(*content.file());
    const Status done = signed_content.Sign(*options_.signature);
    if (!done) return done.error();
    return StoreContent(signed_content, options);
  }
  std::string head;
  std::string piece(kPiece, '\0');
  while (head.size() <= options_.memory_bytes_max) {
    const Result<std::size_t> read = content.Read(piece);
    if (!read) return read.error();
    if (*read == 0) return Store(std::string_view(head), options);
    head.append(piece, 0, *read);
  }
  if (options_.fs == nullptr) {
    return Error{ErrorCode::kFull, fmt::format("contents of more than {} bytes need a file or a "
                                               "temporary directory",
                                               options_.memory_bytes_max)};
  }
  const std::string path =
      fmt::format("{}/content-{}", options_.temporary_directory, ++temporary_number_);
  Result<std::unique_ptr<io::WritableFile>> file = options_.fs->Create(path);
  if (!file) return file.error();
  Status status = (*file)->Append(head);
  while (status) {
    const Result<std::size_t> read = content.Read(piece);
    if (!read) status = read.error();
    if (!read || *read == 0) break;
    status = (*file)->Append(std::string_view(piece).substr(0, *read));
  }
  const Status closed = (*file)->Close();
  if (status) status = closed;
  Result<Stored> stored = Error{ErrorCode::kIo, "not stored"};
  if (status) {
    Result<std::unique_ptr<io::ReadableFile>> again = options_.fs->OpenForReading(path);
    if (!again) status = again.error();
    if (again) {
      io::FileSource source(*std::move(again));
      stored = Store(source, options);
    }
  }
  // The content is stored, or it is not: a leftover file changes neither.
  static_cast<void>(options_.fs->Remove(path).ok());
  if (!status) return status.error();
  return stored;
}

Result<Stored> Instance::StoreContent(const Content& content, const StoreOptions& options) {
  const StoreRequest request{content.signature(), content.size(), options.mode, options.media_type,
                             options.operation};
  if (!IsOperation(request.operation)) {
    return Error{ErrorCode::kInvalid,
                 "an owner has 1 to 64 and an operation id 1 to 128 printable characters"};
  }
  std::vector<Volume*> order;
  if (options.volume) {
    order.push_back(Find(*options.volume));
    if (order.front() == nullptr) return UnknownVolume(*options.volume);
  } else {
    order = OrderFor(request.signature);
  }
  Result<std::optional<Stored>> found = Search(order, request, content);
  if (!found) return found.error();
  if (*found) return **std::move(found);
  Error error{ErrorCode::kFull, "no volume takes new blocks"};
  for (Volume* volume : order) {
    if (volume->state() != VolumeState::kWritable) continue;
    const std::unique_ptr<io::Source> source = content.Read();
    Result<Stored> stored = volume->Store(request, *source);
    if (stored || stored.error().code == ErrorCode::kInvalid) return stored;
    error = stored.error();
  }
  return error;
}

// In kCompare mode the volume that may have the content gets its bytes; should they turn out to be
// new, that volume is as good as any.
Result<std::optional<Stored>> Instance::Search(const std::vector<Volume*>& order,
                                               const StoreRequest& request,
                                               const Content& content) {
  std::optional<Error> failure;
  std::size_t failed = 0;
  for (Volume* volume : order) {
    if (volume->state() == VolumeState::kFrozen) continue;
    const Result<Lookup> found = volume->Reference(request);
    if (!found && found.error().code == ErrorCode::kInvalid) return found.error();
    if (!found) {
      failure = found.error();
      ++failed;
      continue;
    }
    if (found->outcome == Lookup::Outcome::kUnknown) continue;
    if (found->outcome == Lookup::Outcome::kReferenced) {
      return std::optional(Stored{*found->key, false});
    }
    const std::unique_ptr<io::Source> source = content.Read();
    Result<Stored> stored = volume->Store(request, *source);
    if (stored) return std::optional(*std::move(stored));
    if (stored.error().code == ErrorCode::kInvalid) return stored.error();
  }
  if (failed == order.size()) return *failure;
  return std::optional<Stored>();
}

Result<std::unique_ptr<io::Source>> Instance::Retrieve(const ContentKey& key) {
  Volume* volume = Find(key.volume);
  if (volume == nullptr) return UnknownVolume(key.volume);
  return volume->Retrieve(key);
}

Status Instance::Delete(const ContentKey& key, const Operation& operation) {
  Volume* volume = Find(key.volume);
  if (volume == nullptr) return UnknownVolume(key.volume);
  return volume->Delete(key, operation);
}

Result<BlockInfo> Instance::Stat(const ContentKey& key) {
  Volume* volume = Find(key.volume);
  if (volume == nullptr) return UnknownVolume(key.volume);
  return volume->Stat(key);
}

Result<std::unique_ptr<io::Source>> Instance::RetrieveAny(std::span<const ContentKey> replicas) {
  Check(!replicas.empty());
  std::optional<Error> error;
  for (const ContentKey& key : replicas) {
    Result<std::unique_ptr<io::Source>> content = Retrieve(key);
    if (content) return content;
    error = content.error();
  }
  return *error;
}

}  // namespace stele::store
