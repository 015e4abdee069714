#include "archive/verify.h"

#include <fmt/format.h>

#include "io/stream.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::string_view kReindex = "make it anew with: stele reindex";

class Verification {
 public:
  Verification(const ArchiveView& view, const VerifyOptions& options,
               const std::function<void(const std::string&)>& report)
      : view_(view), options_(options), report_(report) {}

  Result<VerifyOutcome> Run() {
    for (const auto& [number, container] : view_.holdings().containers()) {
      ++outcome_.containers;
      CheckFile(container);
      if (const Status checked = CheckRows(container); !checked) return checked.error();
    }
    view_.catalog().Verify(
        [&](const Error& error) { Say(fmt::format("{}; {}", error.text, kReindex)); });
    if (const Status checked = CheckIndex(); !checked) return checked.error();
    return outcome_;
  }

 private:
  void Say(const std::string& text) {
    ++outcome_.defects;
    report_(text);
  }

  void CheckFile(const Container& container) {
    const Result<std::string> path = view_.layout().ContainerPath(container);
    if (!path) return Say(path.error().text);
    auto file = view_.fs().OpenForReading(*path);
    if (!file) return Say(file.error().text + "; restore it from a backup");
    const Result<std::uint64_t> size = (*file)->Size();
    if (!size) return Say(size.error().text);
    if (*size != container.bytes) {
      return Say(fmt::format("{}: has {} bytes and had {} when it came; restore it from a backup",
                             *path, *size, container.bytes));
    }
    if (!options_.read_files) return;
    const Result<std::string> sha256 = Sha256Of(std::move(*file));
    if (!sha256) return Say(sha256.error().text);
    if (*sha256 != container.sha256) {
      Say(fmt::format("{}: its SHA-256 is {} and was {} when it came; restore it from a backup",
                      *path, *sha256, container.sha256));
    }
  }

  Result<std::string> Sha256Of(std::unique_ptr<io::ReadableFile> file) {
    io::FileSource source(std::move(file));
    Hasher hasher(DigestAlgorithm::kSha256);
    std::string buffer(kReadBytes, '\0');
    for (;;) {
      Result<std::size_t> read = source.Read(buffer);
      if (!read) return read.error();
      if (*read == 0) return hasher.Finish().Text();
      hasher.Update(std::string_view(buffer).substr(0, *read));
      outcome_.bytes += *read;
      if (options_.progress) options_.progress(*read);
    }
  }

  Status CheckRows(const Container& container) {
    Result<std::unique_ptr<ContainerRows>> rows = view_.RowsOf(container.number);
    if (!rows && rows.error().code == ErrorCode::kIo) return rows.error();
    if (!rows) {
      Say(fmt::format("{}; {}", rows.error().text, kReindex));
      return {};
    }
    std::uint64_t captures = 0;
    const Status read = (*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
      for (ContainerCapture& capture : some) {
        container.Place(capture.row, captures++);
        // Another container has it now.
        if (container.ids.empty() && view_.holdings().IsReplaced(capture.row.id)) continue;
        if (const Status checked = CheckRow(capture.row); !checked) return checked;
      }
      return {};
    });
    if (!read && read.error().code != ErrorCode::kCorrupt) return read;
    if (!read) {
      Say(fmt::format("{}; {}", read.error().text, kReindex));
    } else if (captures != container.captures) {
      Say(fmt::format("container {}: has rows for {} captures, and the ledger says {}; {}",
                      container.number, captures, container.captures, kReindex));
    }
    if (container.ids.empty()) outcome_.captures += captures;
    return {};
  }

  // The catalog must have what the container shows, but for what was done to the capture since.
  Status CheckRow(const catalog::Capture& expected) {
    const Result<catalog::HeldCapture> held = view_.catalog().Get(expected.id);
    if (!held && held.error().code == ErrorCode::kIo) return held.error();
    catalog::Capture row = held ? held->row : catalog::Capture();
    row.flags &= ~static_cast<std::uint32_t>(catalog::kRemoved);
    if (!held || !(row == expected)) {
      Say(fmt::format("capture {}/{} of {}: the catalog {}; {}", expected.id.batch,
                      expected.id.serial, expected.url,
                      held ? "says something else than its container"
                           : "does not have it: " + held.error().text,
                      kReindex));
    }
    return {};
  }

  // Each row must be found by its key, once.
  Status CheckIndex() {
    catalog::LocationQuery all;
    all.what = catalog::SelectAll();
    catalog::LocationResults results = view_.catalog().Find(all);
    std::uint64_t entries = 0;
    for (;;) {
      const Result<const catalog::LocationEntry*> entry = results.Next();
      if (!entry && entry.error().code == ErrorCode::kIo) return entry.error();
      if (!entry) {
        Say(fmt::format("{}; {}", entry.error().text, kReindex));
        return {};
      }
      if (*entry == nullptr) break;
      ++entries;
    }
    if (entries != outcome_.captures) {
      Say(fmt::format("the index leads to {} captures, and there are {}; {}", entries,
                      outcome_.captures, kReindex));
    }
    return {};
  }

  const ArchiveView& view_;
  const VerifyOptions& options_;
  const std::function<void(const std::string&)>& report_;
  VerifyOutcome outcome_;
};

}  // namespace

Result<VerifyOutcome> Verify(const ArchiveView& view, const VerifyOptions& options,
                             const std::function<void(const std::string&)>& report) {
  return Verification(view, options, report).Run();
}

}  // namespace stele::archive
