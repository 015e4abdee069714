// Any bytes, as a stream of each format: odd pieces give what one piece gives, the member inflater
// agrees with the stream decoder and with zlib, and what is compressed comes back. The libraries
// are not built with sanitizers, so input and output end where a page without access rights begins.
#include <sys/mman.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "codec/buffer.h"
#include "codec/gzip_member.h"
#include "codec/registry.h"
#include "codec/test_samples.h"
#include "util/check.h"

namespace stele::codec {
namespace {

constexpr std::size_t kSizeMax = std::size_t{1} << 18;

class GuardedBytes {
 public:
  GuardedBytes() {
    void* at =
        mmap(nullptr, kSize + kGuard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Check(at != MAP_FAILED);
    begin_ = static_cast<char*>(at);
    Check(mprotect(begin_ + kSize, kGuard, PROT_NONE) == 0);
  }
  ~GuardedBytes() { munmap(begin_, kSize + kGuard); }
  // The `size` bytes before the guard.
  std::span<char> Room(std::size_t size) { return {begin_ + kSize - size, size}; }
  std::string_view Copy(std::string_view bytes) {
    const std::span<char> room = Room(bytes.size());
    if (!bytes.empty()) std::memcpy(room.data(), bytes.data(), bytes.size());
    return {room.data(), room.size()};
  }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 20;
  static constexpr std::size_t kGuard = std::size_t{1} << 16;
  char* begin_;
};

void StaysWithinItsBuffers(const Codec& codec, std::string_view in, std::size_t in_step,
                           std::size_t out_step) {
  static GuardedBytes guarded_in, guarded_out;  // mapping them costs more than a run
  const auto decoder = codec.NewDecoder();
  std::size_t given = 0;
  while (given < kSizeMax) {
    const std::string_view piece = guarded_in.Copy(in.substr(0, in_step));
    const auto step = decoder->Decode(piece, guarded_out.Room(out_step));
    if (!step || step->done || step->consumed + step->produced == 0) return;
    Check(step->consumed <= piece.size() && step->produced <= out_step);
    in.remove_prefix(step->consumed);
    given += step->produced;
  }
}

void OddPiecesGiveTheSame(const Codec& codec, std::string_view in, std::size_t in_step,
                          std::size_t out_step) {
  const auto decoder = codec.NewDecoder();
  const Streamed whole = DecodeInSteps(*decoder, in, in.size() + 1, kSizeMax, kSizeMax);
  decoder->Reset();
  const Streamed pieces = DecodeInSteps(*decoder, in, in_step, out_step, kSizeMax);
  Check(!whole.stuck && !pieces.stuck);
  if (whole.out.size() >= kSizeMax || pieces.out.size() >= kSizeMax) return;
  Check(whole.done == pieces.done && whole.corrupt == pieces.corrupt);
  if (whole.done) Check(whole.out == pieces.out && whole.consumed == pieces.consumed);
  Check(whole.consumed <= in.size() && pieces.consumed <= in.size());
}

// zlib's opinion of the gzip member at the start of `in`.
Streamed InflateByZlib(std::string_view in) {
  Streamed result;
  z_stream stream{};
  Check(inflateInit2(&stream, 15 + 16) == Z_OK);
  result.out.resize(kSizeMax);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.out.data());
  stream.avail_out = static_cast<uInt>(result.out.size());
  const int outcome = inflate(&stream, Z_NO_FLUSH);
  result.out.resize(stream.total_out);
  result.consumed = in.size() - stream.avail_in;
  result.done = outcome == Z_STREAM_END;
  inflateEnd(&stream);
  return result;
}

void MemberInflaterAgrees(const Codec& gzip, std::string_view in) {
  GzipMemberInflater inflater;
  Buffer out;
  const auto member = inflater.Inflate(in, kSizeMax, out);
  const auto decoder = gzip.NewDecoder();
  const Streamed stream = DecodeInSteps(*decoder, in, in.size() + 1, kSizeMax, kSizeMax);
  if (member.ok() && member->kind == GzipMemberInflater::Kind::kDone) {
    Check(out.size() == member->produced && member->consumed <= in.size());
    if (stream.done) Check(stream.out == out.view() && stream.consumed == member->consumed);
  } else if (!member.ok()) {
    Check(!stream.done);
  }
  const Streamed zlib = InflateByZlib(in);
  if (zlib.done) {
    Check(member.ok() && member->kind == GzipMemberInflater::Kind::kDone);
    Check(out.view() == zlib.out && member->consumed == zlib.consumed);
  }
}

void RoundTrips(const Codec& codec, std::string_view in, std::size_t in_step,
                std::size_t out_step) {
  const auto encoder = codec.NewEncoder(static_cast<int>(in_step % 7));
  if (encoder == nullptr) return;
  const std::string packed = EncodeInSteps(*encoder, in, in_step, out_step);
  Check(codec.Decompress(packed, in.size()).value() == in);
}

}  // namespace
}  // namespace stele::codec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stele::codec;
  if (size < 3) return 0;
  const Registry registry = StandardRegistry();
  static constexpr const char* kNames[] = {"gzip", "deflate", "zstd", "br", "identity"};
  const Codec& codec = *registry.Find(kNames[data[0] % 5]);
  const std::size_t in_step = 1 + data[1];
  const std::size_t out_step = 1 + data[2] * 4;
  const std::string_view in(reinterpret_cast<const char*>(data) + 3, size - 3);
  OddPiecesGiveTheSame(codec, in, in_step, out_step);
  StaysWithinItsBuffers(codec, in, in_step, out_step);
  if (codec.name() == "gzip") MemberInflaterAgrees(codec, in);
  if (data[0] & 0x80) RoundTrips(codec, in, in_step, out_step);
  return 0;
}
