#include "store/copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/live_references.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::size_t kPage = 1000;
constexpr std::size_t kPiece = 64 << 10;
constexpr std::size_t kHead = 256 << 10;
// Blocks of one signature that are looked at: contents that collide on purpose have no claim to
// more.
constexpr std::size_t kOverflowMax = 64;

// "tomba-1.0/": what the ids of all references to copies of this content begin with.
std::string IdPrefix(const ContentKey& original) {
  return fmt::format("{}.{}/", original.volume, original.overflow);
}

std::optional<ContentKey> OriginalOf(const Operation& reference, const Signature& signature) {
  const std::string_view id = reference.id;
  const std::size_t slash = id.find('/');
  const std::size_t dot = id.find('.');
  if (slash == std::string_view::npos || dot > slash) return std::nullopt;
  const std::string_view number = id.substr(dot + 1, slash - dot - 1);
  const std::string name = signature.Hex();
  return ContentKey::Parse(number == "0"
                               ? fmt::format("{}:{}", id.substr(0, dot), name)
                               : fmt::format("{}:{}.{}", id.substr(0, dot), name, number));
}

// Reads to the end and throws it away.
Status Drain(io::Source& content) {
  std::string piece(kPiece, '\0');
  for (;;) {
    const Result<std::size_t> read = content.Read(piece);
    if (!read) return read.error();
    if (*read == 0) return {};
  }
}

}  // namespace

// Hands out the content of the first of several keys that can be read. When one fails after some
// bytes, the next begins where it ended, provided that it has the same bytes before.
class Copies::Stream final : public io::Source {
 public:
  Stream(Copies& copies, const ContentKey& original) : copies_(copies), original_(original) {}

  // Errors: of the original, when nothing can be read.
  Status Open() {
    Result<std::unique_ptr<io::Source>> content = copies_.instance_.Retrieve(original_);
    Status status;
    if (content) {
      content_ = *std::move(content);
    } else {
      status = FallOver(content.error());
    }
    while (status) {
      const Status filled = FillHead();
      if (filled) return {};
      status = FallOver(filled.error());
    }
    return status;
  }

  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = TakeHead(out);
    while (*read == 0 && !ended_) {
      read = content_->Read(out);
      if (read) break;
      const Status fell_over = FallOver(read.error());
      if (!fell_over) return fell_over.error();
      read = std::size_t{0};
    }
    handed_out_->Update(std::string_view(out.data(), *read));
    size_ += *read;
    return read;
  }

 private:
  // The begin of the content; of a small one all, so that its damage shows before a byte of it is
  // handed out.
  Status FillHead() {
    head_.resize(kHead);
    std::size_t filled = 0;
    while (filled < kHead && !ended_) {
      const Result<std::size_t> read = content_->Read(std::span(head_).subspan(filled));
      if (!read) return read.error();
      filled += *read;
      ended_ = *read == 0;
    }
    head_.resize(filled);
    return {};
  }
  std::size_t TakeHead(std::span<char> out) {
    const std::size_t taken = std::min(out.size(), head_.size() - head_taken_);
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(head_taken_), taken, out.begin());
    head_taken_ += taken;
    return taken;
  }

  // To the next copy, or `error` when there is none.
  Status FallOver(const Error& error) {
    if (!left_) left_ = copies_.FindCopies(copies_.PresentKey(original_));
    const Signature handed_out = handed_out_->Finish();
    while (!left_->empty()) {
      const Copy copy = left_->front();
      left_->erase(left_->begin());
      Result<std::unique_ptr<io::Source>> content = copy.volume->Retrieve(copy.key);
      if (!content) continue;
      content_ = *std::move(content);
      const Result<Signature> passed = Pass();
      if (!passed) continue;
      if (*passed == handed_out) return {};
      return Error{ErrorCode::kCorrupt, fmt::format("{}: {} bytes that were handed out were wrong",
                                                    original_.Text(), size_)};
    }
    return error;
  }

  // Reads what was handed out before, once more.
  Result<Signature> Pass() {
    const std::unique_ptr<SignatureStream> passed = RabinSignatures().NewStream();
    handed_out_ = RabinSignatures().NewStream();
    std::string piece(kPiece, '\0');
    for (std::uint64_t left = size_; left > 0;) {
      const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece));
      const Result<std::size_t> read = content_->Read(std::span(piece.data(), want));
      if (!read) return read.error();
      if (*read == 0) break;
      passed->Update(std::string_view(piece).substr(0, *read));
      handed_out_->Update(std::string_view(piece).substr(0, *read));
      left -= *read;
    }
    return passed->Finish();
  }

  Copies& copies_;
  const ContentKey original_;
  std::unique_ptr<io::Source> content_;
  std::optional<std::vector<Copy>> left_;  // not looked for while nothing fails
  std::unique_ptr<SignatureStream> handed_out_ = RabinSignatures().NewStream();
  std::uint64_t size_ = 0;  // of what was handed out
  std::string head_;
  std::size_t head_taken_ = 0;  // bytes of it that were handed out
  bool ended_ = false;          // there is nothing behind the head
};

Result<std::unique_ptr<io::Source>> Copies::Retrieve(const ContentKey& original) {
  auto stream = std::make_unique<Stream>(*this, original);
  const Status opened = stream->Open();
  if (!opened) return opened.error();
  return std::unique_ptr<io::Source>(std::move(stream));
}

Operation Copies::NewReference(const ContentKey& original) {
  const std::lock_guard lock(mutex_);
  return {std::string(kOwner), fmt::format("{}{:016x}", IdPrefix(original), random_.Next())};
}

// Under its present key, or under one that it had before it moved.
bool Copies::IsCopyOf(const Operation& reference, const ContentKey& original) const {
  if (reference.id.starts_with(IdPrefix(original))) return true;
  const std::optional<ContentKey> named = OriginalOf(reference, original.signature);
  const Result<ContentKey> now =
      named ? instance_.Resolve(*named) : Error{ErrorCode::kNotFound, "names no content"};
  return now && *now == original;
}

// Where members do not answer that would know better, a key is taken as it is.
ContentKey Copies::PresentKey(const ContentKey& original) const {
  const Result<ContentKey> now = instance_.Resolve(original);
  return now ? *now : original;
}

// Volumes that cannot be asked have none.
std::vector<Copies::Copy> Copies::FindCopies(const ContentKey& original) {
  std::vector<Copy> copies;
  for (Volume* volume : instance_.OrderFor(original.signature)) {
    if (volume->name() == original.volume) continue;
    std::vector<std::uint32_t> numbers = {0};
    ListRequest others;
    others.after = BlockId{original.signature, 0};
    others.limit = kOverflowMax;
    const Result<std::vector<ListedBlock>> listed = volume->List(others);
    if (!listed) continue;
    for (const ListedBlock& block : *listed) {
      if (block.block.signature == original.signature) numbers.push_back(block.block.overflow);
    }
    for (const std::uint32_t number : numbers) {
      const ContentKey key{volume->name(), original.signature, number};
      const auto references = LiveReferences(*volume, key, kOwner);
      if (!references) continue;
      for (const Operation& reference : *references) {
        if (IsCopyOf(reference, original)) copies.push_back({volume, key, reference});
      }
    }
  }
  return copies;
}

Copies::Health Copies::HealthOf(Volume& volume, const ContentKey& key, bool read) {
  Status status;
  if (read) {
    const Result<std::unique_ptr<io::Source>> content = volume.Retrieve(key);
    status = content ? Drain(**content) : Status(content.error());
  } else {
    const Result<BlockInfo> info = volume.Stat(key);
    if (!info) status = info.error();
  }
  if (status) return Health::kGood;
  const ErrorCode code = status.error().code;
  return code == ErrorCode::kCorrupt || code == ErrorCode::kNotFound ? Health::kDamaged
                                                                     : Health::kUnreachable;
}

// The media type of the original is not known any more, but how it was stored is.
Status Copies::CopyTo(Volume& volume, const ContentKey& original, const Place& from,
                      const BlockInfo& info) {
  const Result<std::unique_ptr<io::Source>> content = from.volume->Retrieve(from.key);
  if (!content) return content.error();
  const char* media_type = info.compression == "identity" ? "application/octet-stream" : "";
  StoreRequest request{original.signature, info.size, StoreMode::kCompare, media_type,
                       NewReference(original)};
  request.home.epoch = instance_.composition().epoch;  // the home is not to be told
  const Result<Stored> stored = volume.Store(request, **content);
  return stored ? Status() : Status(stored.error());
}

Result<int> Copies::Ensure(const ContentKey& original, int copies) {
  Repaired unused;
  RepairOptions options;
  options.copies = copies;
  options.read_everything = false;
  return Complete(PresentKey(original), options, unused);
}

// Damaged copies go, a damaged original is restored, missing copies are made.
Result<int> Copies::Complete(const ContentKey& original, const RepairOptions& options,
                             Repaired& repaired) {
  std::optional<BlockInfo> info;
  std::vector<Place> good;  // where it can be read
  for (const Copy& copy : FindCopies(original)) {
    const Health health = HealthOf(*copy.volume, copy.key, options.read_everything);
    const Result<BlockInfo> known = copy.volume->Stat(copy.key);
    if (health == Health::kGood && known) {
      good.push_back({copy.volume, copy.key});
      info = *known;
    } else if (health == Health::kDamaged) {
      options.report({copy.key.Text(), ErrorCode::kCorrupt, "this copy is damaged and goes"});
      static_cast<void>(copy.volume->Delete(copy.key, copy.reference).ok());
    }
  }
  Volume* volume = instance_.Find(original.volume);
  if (volume != nullptr) {
    Health health = HealthOf(*volume, original, options.read_everything);
    const Result<BlockInfo> known = volume->Stat(original);
    if (known) info = *known;
    if (health == Health::kDamaged && !good.empty()) {
      const auto content = good.front().volume->Retrieve(good.front().key);
      const Status restored =
          content ? volume->Restore(original, info->size, **content) : content.error();
      options.report(
          {original.Text(), restored ? ErrorCode::kCorrupt : restored.error().code,
           restored ? "was damaged and is restored from a copy" : restored.error().text});
      if (restored) ++repaired.restored;
      if (restored) health = Health::kGood;
    }
    if (health == Health::kGood) good.push_back({volume, original});
  }
  if (!info || good.empty()) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: neither it nor a copy can be read", original.Text())};
  }
  for (Volume* next : instance_.OrderFor(original.signature)) {
    if (static_cast<int>(good.size()) >= options.copies) break;
    const bool has = std::any_of(good.begin(), good.end(),
                                 [&](const Place& place) { return place.volume == next; });
    if (has || next->name() == original.volume || next->state() != VolumeState::kWritable) continue;
    const Status copied = CopyTo(*next, original, good.front(), *info);
    if (!copied) {
      options.report({original.Text(), copied.error().code, copied.error().text});
      continue;
    }
    ++repaired.made;
    good.push_back({next, original});
  }
  return static_cast<int>(good.size());
}

Status Copies::Delete(const ContentKey& original, const Operation& operation) {
  const Status deleted = instance_.Delete(original, operation);
  if (!deleted) return deleted;
  const Result<BlockInfo> left = instance_.Stat(original);
  if (left || left.error().code != ErrorCode::kNotFound) return {};
  for (const Copy& copy : FindCopies(PresentKey(original))) {
    static_cast<void>(copy.volume->Delete(copy.key, copy.reference).ok());
  }
  return {};
}

// A copy goes with its original. While the volume of the original is gone or does not answer, the
// copies are all there is.
Status Copies::RepairCopy(Volume& volume, const ContentKey& key, const RepairOptions& options,
                          Repaired& repaired) {
  const Result<std::vector<Operation>> references = LiveReferences(volume, key, kOwner);
  if (!references) return references.error();
  for (const Operation& reference : *references) {
    const std::optional<ContentKey> named = OriginalOf(reference, key.signature);
    if (!named) continue;
    const Result<ContentKey> original = instance_.Resolve(*named);
    if (!original) return original.error();
    const Result<BlockInfo> there = instance_.Stat(*original);
    // One that its original has moved to is none any more.
    const bool is_copy = *original != key;
    if (is_copy && there) continue;
    const bool known = instance_.Find(original->volume) != nullptr;
    if (!is_copy || (known && there.error().code == ErrorCode::kNotFound)) {
      const Status deleted = volume.Delete(key, reference);
      if (!deleted) return deleted;
      ++repaired.released;
      continue;
    }
    const Status completed = CompleteOrSay(*original, options, repaired);
    if (!completed) return completed;
  }
  return {};
}

Status Copies::CompleteOrSay(const ContentKey& original, const RepairOptions& options,
                             Repaired& repaired) {
  ++repaired.contents;
  const Result<int> there = Complete(original, options, repaired);
  if (!there) return there.error();
  if (*there >= options.copies) return {};
  return Error{ErrorCode::kFull, fmt::format("is on {} of {} volumes", *there, options.copies)};
}

void Copies::RepairBlock(Volume& volume, const ListedBlock& listed, const RepairOptions& options,
                         Repaired& repaired) {
  const ContentKey key{volume.name(), listed.block.signature, listed.block.overflow};
  const Result<std::uint64_t> held = volume.Held(key, std::string(kOwner));
  Status status;
  if (!held) status = held.error();
  if (held && listed.references > *held) status = CompleteOrSay(key, options, repaired);
  if (held && *held > 0 && status) status = RepairCopy(volume, key, options, repaired);
  if (status) return;
  ++repaired.failed;
  options.report({key.Text(), status.error().code, status.error().text});
}

Result<Copies::Repaired> Copies::Repair(const RepairOptions& options) {
  Repaired repaired;
  for (const auto& volume : instance_.volumes()) {
    ListRequest request;
    request.limit = kPage;
    for (bool more = true; more;) {
      const Result<std::vector<ListedBlock>> page = volume->List(request);
      if (!page) {
        options.report({volume->name(), page.error().code, page.error().text});
        ++repaired.failed;
        break;
      }
      more = page->size() == kPage;
      for (const ListedBlock& listed : *page) {
        RepairBlock(*volume, listed, options, repaired);
        request.after = listed.block;
        options.progress(repaired);
      }
    }
  }
  return repaired;
}

}  // namespace stele::store
