#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_handler.h"
#include "util/result.h"
#include "util/timestamp.h"

// Responses as bytes.
namespace stele::net {

// "Not Found"; empty where the standards have none.
std::string_view ReasonOf(int status);

// Errors: kInvalid, see ResponseStart.
Status CheckStart(const ResponseStart& start);

// 1xx, 204, 304 have none, whatever the method.
bool StatusHasBody(int status);

enum class ConnectionField { kNone, kKeepAlive, kClose };

// `length`, and not that of `start`, is announced. Requires: CheckStart() is content.
void AppendHead(const ResponseStart& start, std::optional<std::uint64_t> length, bool chunked,
                ConnectionField connection, Timestamp now, std::string& out);

// A whole response that ends the connection, for what no handler sees.
void AppendRefusal(int status, std::string_view text, Timestamp now, std::string& out);

// Joins many small writes into one chunk: the size is filled in when the chunk is closed.
class ChunkWriter {
 public:
  void Append(std::string_view bytes, std::string& out);  // nothing for no bytes
  // Before anybody takes `out`, which must be the one given to Append().
  void CloseChunk(std::string& out);
  void End(std::string& out);  // the last chunk

 private:
  static constexpr std::size_t kNone = std::string::npos;
  std::size_t begin_ = kNone;  // of the open chunk, in `out`
};

}  // namespace stele::net
