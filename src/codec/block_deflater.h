#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "codec/buffer.h"

struct isal_zstream;
struct z_stream_s;

namespace stele::codec {

// Deflates bytes into blocks that end at a byte boundary and are not the last of their stream, so
// that other blocks can stand before and behind them: a stream can be put together from such parts,
// and cut apart again, without inflating. For one thread.
class BlockDeflater {
 public:
  // 1 to 3: ISA-L, which is several times as fast as others and good for a few percent less; 4 to
  // 9: zlib. Values beyond mean these.
  explicit BlockDeflater(int level);
  ~BlockDeflater();

  int level() const { return level_; }

  // Appends to `out`. With `last`, everything comes out, up to a byte boundary, and the next piece
  // begins anew; before, some of it may be held back.
  void Deflate(std::string_view piece, bool last, Buffer& out);

 private:
  void DeflateFast(std::string_view piece, bool last, Buffer& out);
  void DeflateSmall(std::string_view piece, bool last, Buffer& out);

  const int level_;
  std::unique_ptr<isal_zstream> fast_;
  std::unique_ptr<std::uint8_t[]> fast_memory_;
  std::unique_ptr<z_stream_s> small_;
};

// Deflaters that wait for their next use. Thread-safe.
class BlockDeflaterPool {
 public:
  std::unique_ptr<BlockDeflater> Take(int level);
  void Give(std::unique_ptr<BlockDeflater> deflater);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockDeflater>> free_;
};

}  // namespace stele::codec
