#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "archive/wacz_file.h"
#include "archive/wacz_package.h"
#include "archive/warc_export.h"
#include "io/file_system.h"

namespace stele::archive {

struct WaczOptions {
  bool keep_revisits = false;  // as in ExportOptions
  std::string software;        // that wrote it, with its version
};

// Writes captures to a WACZ file that ReplayWeb.page shows: records, their index, and a list of
// those that are pages. See docs/formats/wacz.md. Keeps an index line of each capture in memory.
// Not thread-safe. Borrows all for life.
class WaczExport {
 public:
  // Records go to the file `spool` first, and pages to one beside it, which are gone afterwards: a
  // ZIP file says how large a member is before it begins.
  static Result<std::unique_ptr<WaczExport>> Begin(const ArchiveView& view, const io::Clock& clock,
                                                   io::Random& random, const std::string& spool,
                                                   const WaczOptions& options);

  // Errors: those of WarcExport::Add().
  Result<ExportedCapture> Add(const catalog::HeldCapture& capture);
  // Writes the whole file. Call once, after the last Add().
  Status Finish(io::Sink& sink);

  std::uint64_t unresolved() const { return warc_->unresolved(); }

 private:
  WaczExport(const ArchiveView& view, const io::Clock& clock, std::string software);
  // A page that is exported, and what the archive itself says of it.
  struct Page {
    std::string url;
    Timestamp time;
    std::string line;  // a JSON object without its end
  };
  void AddPage(const catalog::HeldCapture& capture);
  Status AddPages(WaczPackage& package);
  // Pages of a WACZ file get the text that it has of them; those that were written are taken out.
  Status WritePagesOf(const WaczFile& wacz, std::vector<Page>& pages, WaczSpool& spool) const;

  const ArchiveView& view_;
  const io::Clock& clock_;
  const std::string software_;
  const RevisitResolver resolver_;
  std::unique_ptr<WaczSpool> spool_;
  std::unique_ptr<WarcExport> warc_;
  std::vector<std::string> index_lines_;
  std::map<std::uint32_t, std::vector<Page>> pages_;  // by container
};

}  // namespace stele::archive
