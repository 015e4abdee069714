#include <cstddef>
#include <cstdint>

#include "catalog/capture_log.h"
#include "catalog/capture_page.h"
#include "io/memory_file_system.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

// A row that is read writes itself again byte for byte.
void ReadRow(std::string_view bytes) {
  const Result<Capture> row = ParseCaptureRow(bytes);
  if (!row) return;
  std::string again;
  AppendCaptureRow(*row, again);
  Check(again == bytes);
}

// A page that is read to its end has the same rows when it is written again.
void ReadPage(std::string_view bytes) {
  Result<CapturePageReader> rows = CapturePageReader::Open(bytes, 200405);
  if (!rows) return;
  std::vector<HeldCapture> all;
  while (rows->left() > 0) {
    const Result<const Capture*> row = rows->Next();
    if (!row) return;
    all.push_back(HoldCapture(**row));
  }
  CapturePageBuilder builder;
  for (const HeldCapture& held : all) builder.Add(held.row);
  std::string page;
  for (const std::string& part : builder.Take()) page += part;
  Result<CapturePageReader> again = CapturePageReader::Open(page, 200405);
  Check(again.ok() && again->left() == all.size());
  for (const HeldCapture& held : all) Check(**again->Next() == held.row);
  // Rows that are passed leave the next one as it is.
  const Capture& wanted = all[all.size() / 2].row;
  Result<CapturePageReader> passing = CapturePageReader::Open(page, 200405);
  passing->PassBefore(wanted.id.serial);
  Check(**passing->Next() == wanted);
}

void ReadLog(std::string_view bytes) {
  io::MemoryFileSystem disk;
  Check(io::ReplaceFile(disk, "log", bytes).ok());
  PageCache cache(1 << 20);
  const auto log = CaptureLog::Open(disk, "log", cache);
  const Result<std::uint64_t> end = (*log)->Scan(0, [](const Capture&, std::uint64_t) {});
  if (end) static_cast<void>((*log)->CheckTail(*end).ok());
}

}  // namespace
}  // namespace stele::catalog

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stele::catalog::ReadRow(bytes);
  stele::catalog::ReadPage(bytes);
  stele::catalog::ReadLog(bytes);
  return 0;
}
