#include "io/stream.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/posix_file_system.h"

namespace stele::io {

Result<std::size_t> FileSource::Read(std::span<char> out) {
  Result<std::size_t> read = file_->ReadAt(offset_, out);
  if (read) offset_ += *read;
  return read;
}

Result<std::size_t> DescriptorSource::Read(std::span<char> out) {
  for (;;) {
    const ssize_t n = ::read(descriptor_, out.data(), out.size());
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return SystemError("cannot read the input", errno);
  }
}

Result<std::size_t> MemorySource::Read(std::span<char> out) {
  const std::size_t n = rest_.copy(out.data(), out.size());
  rest_.remove_prefix(n);
  return n;
}

Status DescriptorSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError("cannot write the output", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace stele::io
