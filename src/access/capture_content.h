#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/sight.h"
#include "archive/capture_block.h"
#include "formats/http/content_decoder.h"
#include "formats/record/payload.h"
#include "io/stream.h"
#include "net/header_field.h"
#include "util/result.h"

namespace stele::access {

// What a server answered once. Names and values can be sent as they are: bytes that no header may
// have are spaces, fields without a good name are left out.
struct ArchivedHead {
  int status = 200;
  std::string reason;
  std::vector<net::HeaderField> fields;

  // The first of that name, in any case; empty where there is none.
  std::string_view Find(std::string_view name) const;
};

// The payload of a capture, as a stream, without transfer coding; of a revisit that of its
// original, of one that was cut into segments all of them that are here. It is compared with the
// digest that it had when it came before its last bytes are given out: what is damaged ends in an
// error. Not thread-safe. Keeps the snapshot.
class CaptureContent final : public io::Source, private record::PayloadSink {
 public:
  // Whether a content coding may stay.
  using KeepsCoding = std::function<bool(std::string_view coding)>;

  // What is small is read and compared at once. Errors: kNotFound when the original or the file is
  // not here, kCorrupt, kIo; the text names no path.
  static Result<std::unique_ptr<CaptureContent>> Open(const Sight& sight,
                                                      const catalog::HeldCapture& capture,
                                                      const KeepsCoding& keeps);

  // Of a revisit, its own where it has one.
  const ArchivedHead& head() const { return head_; }
  // The coding that is still on; empty where there is none.
  const std::string& coding() const { return coding_; }
  // Whether rules let it be downloaded.
  bool may_be_taken() const { return may_be_taken_; }
  // How many bytes there are, where that is known.
  std::optional<std::uint64_t> length() const { return length_; }

  Result<std::size_t> Read(std::span<char> out) override;
  // All of it. Errors: those of Read(); kFull beyond `size_max`.
  Result<std::string> ReadAll(std::size_t size_max);

 private:
  explicit CaptureContent(std::shared_ptr<const Snapshot> snapshot)
      : snapshot_(std::move(snapshot)) {}
  // `own_codings`: in place of those of its head, where a revisit has some; or null.
  Status Begin(const catalog::HeldCapture& content, const std::vector<std::string>* own_codings,
               const KeepsCoding& keeps);
  // Leaves one on that may stay, and takes the others off.
  void TakeOff(std::vector<std::string_view> codings, const KeepsCoding& keeps);
  void OnPayload(std::string_view piece) override;
  // One more piece of the record.
  Status Pump();
  Status Pump(std::size_t wanted);
  Result<std::size_t> Decode(std::span<char> out);
  std::size_t waiting() const { return payload_.size() - at_; }

  const std::shared_ptr<const Snapshot> snapshot_;
  ArchivedHead head_;
  std::string coding_;
  bool may_be_taken_ = true;
  std::optional<std::uint64_t> length_;
  std::unique_ptr<archive::CaptureBlock> block_;
  record::PayloadStream stream_;
  std::unique_ptr<http::ContentDecoder> decoder_;
  std::string payload_;  // read, and from at_ on not yet given out or decoded
  std::size_t at_ = 0;
  bool ended_ = false;  // all is in payload_
  bool decoded_ = false;
};

// What to tell of a capture that cannot be read: whose file is meant, without where it lies, and
// what to do. kBusy: it can be reached later.
Error Unreadable(const Snapshot& snapshot, const catalog::HeldCapture& capture, const Error& error);

// Of a field that is sent: bytes that no value may have become spaces.
std::string CleanValue(std::string_view value);
bool IsFieldName(std::string_view name);

}  // namespace stele::access
