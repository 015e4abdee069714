#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "codec/buffer.h"
#include "codec/gzip_decoder.h"
#include "util/result.h"

struct libdeflate_compressor;
struct libdeflate_decompressor;

// The fast path of archives, which hold one gzip member per record: whole members between buffers.
// Both classes keep their working memory from member to member and are for one thread each.
namespace stele::codec {

class GzipMemberInflater {
 public:
  enum class Kind {
    kDone,      // `out` holds all of the member
    kNeedMore,  // see Inflate()
  };
  struct Outcome {
    Kind kind = Kind::kNeedMore;
    std::size_t consumed = 0;  // the member's length in `in`; 0 unless kDone
    std::size_t produced = 0;  // out.size(); 0 unless kDone
  };

  GzipMemberInflater();
  ~GzipMemberInflater();

  // Inflates the gzip member at the start of `in` into `out`, replacing what it held and reusing
  // its memory, when all of the member lies in `in` and gives at most `size_max` bytes. kNeedMore:
  // `in` ends before the member does, or the member gives more than `size_max` bytes. Call again
  // with more bytes, or read it with a GzipDecoder, which needs neither. Errors: kCorrupt. `out` is
  // then empty.
  Result<Outcome> Inflate(std::string_view in, std::size_t size_max, Buffer& out);

 private:
  Result<Outcome> InflateAsStream(std::string_view in, std::size_t size_max, Buffer& out);

  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const;
  };
  std::unique_ptr<libdeflate_decompressor, Free> decompressor_;
  std::unique_ptr<GzipDecoder> stream_;  // made when first needed
};

class GzipMemberDeflater {
 public:
  // Levels 0 (stored) to 12; values beyond mean these.
  explicit GzipMemberDeflater(int level);
  ~GzipMemberDeflater();

  // Replaces what `out` held by one gzip member.
  void Deflate(std::string_view in, Buffer& out);

 private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const;
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
};

}  // namespace stele::codec
