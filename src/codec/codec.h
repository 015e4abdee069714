#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "util/result.h"

// Compression formats behind one shape. A Codec is immutable and may be used by many threads at
// once; the decoders and encoders it makes are for one thread each and may outlive it.
namespace stele::codec {

struct Progress {
  std::size_t consumed = 0;  // bytes taken from the front of `in`
  std::size_t produced = 0;  // bytes written to the front of `out`
  bool done = false;         // the stream's end was reached; bytes after it are not consumed
};

// Reads one stream: a gzip member, a zlib or raw deflate stream, a zstd frame, a brotli stream.
// Streams that follow each other are read by Reset() after each `done`.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // Decodes from `in` into `out`, until one of them is used up or the stream ends. Where both have
  // bytes left and the stream goes on, something is consumed or produced, so a loop ends.
  // With `in` empty, nothing produced into a non-empty `out` and !done, the stream is truncated.
  // After `done`, further calls do nothing and say `done` again.
  // Errors: kCorrupt. All bytes decoded before the bad place are handed out by earlier calls; the
  // error comes again on every later call until Reset().
  virtual Result<Progress> Decode(std::string_view in, std::span<char> out) = 0;

  // Ready for the next stream, whatever came before.
  virtual void Reset() = 0;
};

// Writes one stream; Reset() starts the next.
class Encoder {
 public:
  virtual ~Encoder() = default;

  // Announces how many bytes the stream will have in all, where the format can say so in its header
  // (zstd); the others ignore it. Requires: before the first Encode() of the stream, and true.
  virtual void ExpectSize(std::uint64_t size) = 0;

  // Encodes from `in` into `out`. `finish`: `in` holds the last bytes of the stream; call again
  // with what was not consumed, and `finish`, until `done`. Errors: kInvalid when more or fewer
  // bytes came than ExpectSize() announced.
  virtual Result<Progress> Encode(std::string_view in, std::span<char> out, bool finish) = 0;

  virtual void Reset() = 0;
};

class Codec {
 public:
  virtual ~Codec() = default;

  // As in HTTP's content codings: "gzip", "zstd", ...
  virtual std::string_view name() const = 0;

  virtual std::unique_ptr<Decoder> NewDecoder() const = 0;

  // Null when this format is only read. `level` is on the format's own scale, from fast to small;
  // values beyond its ends mean its ends.
  virtual std::unique_ptr<Encoder> NewEncoder(int level) const = 0;

  // The whole of `bytes` as one stream. Errors: kInvalid when this format is only read.
  virtual Result<std::string> Compress(std::string_view bytes, int level) const = 0;

  // All of `bytes`, which are one stream or several after each other, and nothing else.
  // Errors: kCorrupt for bad, truncated or trailing bytes, kFull when the result would have more
  // than `size_max` bytes.
  virtual Result<std::string> Decompress(std::string_view bytes, std::size_t size_max) const = 0;
};

}  // namespace stele::codec
