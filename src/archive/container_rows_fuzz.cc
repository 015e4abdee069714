#include "archive/container_rows.h"
#include "catalog/page_file_writer.h"
#include "io/memory_file_system.h"

// Pages with good checksums and any content: all of it is read or named as damage. The first byte
// says how many bytes the summary has.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t summary = std::min<std::size_t>(data[0], bytes.size());
  io::MemoryFileSystem fs;
  auto writer = catalog::PageFileWriter::Create(fs, "rows", "container");
  static_cast<void>((*writer)->Append({std::string(bytes.substr(summary))}).ok());
  static_cast<void>((*writer)->Finish(bytes.substr(0, summary)).ok());
  catalog::PageCache cache(1 << 20);
  const auto rows = archive::ContainerRows::Open(fs, "rows", cache);
  if (!rows) return 0;
  static_cast<void>(
      (*rows)->ForEachCapture([](std::span<archive::ContainerCapture>) { return Status(); }).ok());
  static_cast<void>((*rows)->Companions().ok());
  return 0;
}
