#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "archive/purge.h"
#include "archive/removal.h"
#include "archive/revisit_resolver.h"
#include "archive/test_archive.h"
#include "archive/unresolved.h"
#include "archive/verify.h"
#include "archive/warc_export.h"
#include "archive/whole_block.h"

// Revisits that say what they repeat in any way, and what becomes of them.
namespace stele::archive::testing {

inline constexpr const char* kNotModified =
    "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n";
inline constexpr const char* kIdentical =
    "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n";

// A plain record with these fields and no others.
inline std::string RecordText(const std::string& type, const std::string& id,
                              const std::string& url, const std::string& date,
                              const std::string& fields, const std::string& block) {
  return fmt::format(
      "WARC/1.1\r\nWARC-Type: {}\r\nWARC-Record-ID: <urn:x:{}>\r\nWARC-Target-URI: {}\r\n"
      "WARC-Date: {}\r\n{}Content-Type: application/http; msgtype=response\r\n"
      "Content-Length: {}\r\n\r\n{}\r\n\r\n",
      type, id, url, date, fields, block.size(), block);
}
inline std::string Response(const std::string& id, const std::string& url, const std::string& date,
                            const std::string& body, const std::string& fields = "") {
  return RecordText("response", id, url, date, fields,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body);
}
inline std::string Redirect(const std::string& id, const std::string& url, const std::string& date,
                            const std::string& to) {
  return RecordText("response", id, url, date, "",
                    fmt::format("HTTP/1.1 301 Moved\r\nLocation: {}\r\n\r\n", to));
}
inline std::string Revisit(const std::string& id, const std::string& url, const std::string& date,
                           const std::string& fields, int status = 200) {
  return RecordText("revisit", id, url, date, fields,
                    fmt::format("HTTP/1.1 {} Any\r\nContent-Type: text/html\r\n\r\n", status));
}
inline std::string Claim(DigestAlgorithm algorithm, const std::string& body) {
  return fmt::format("WARC-Payload-Digest: {}\r\n", DigestOf(algorithm, body).Labelled());
}
inline std::string Sha1(const std::string& body) { return Claim(DigestAlgorithm::kSha1, body); }
inline std::string RefersTo(const std::string& url, const std::string& date) {
  return fmt::format("WARC-Refers-To-Target-URI: {}\r\nWARC-Refers-To-Date: {}\r\n", url, date);
}
inline std::string RefersTo(const std::string& id) {
  return fmt::format("WARC-Refers-To: <urn:x:{}>\r\n", id);
}

class RevisitArchive : public ::testing::Test {
 protected:
  void Import(const std::string& bytes) {
    if (archive_ == nullptr) {
      ASSERT_TRUE(lab_.Create());
      archive_ = *lab_.Open();
    }
    const std::string path = fmt::format("{}.warc", ++files_);
    PutFile(fs_, path, bytes);
    const auto run = archive_->BeginRun("import", "");
    ASSERT_TRUE(run);
    const auto imported = ImportFile(*archive_, *run, path, {});
    ASSERT_TRUE(imported) << imported.error().text;
    ASSERT_TRUE(archive_->EndRun(*run));
  }

  static CaptureQuery All() {
    CaptureQuery query;
    query.where.what = catalog::SelectAll();
    return query;
  }
  static CaptureQuery Of(const std::string& url) {
    CaptureQuery query;
    query.where.what = catalog::SelectUrl(url);
    return query;
  }
  static CaptureQuery OfBatch(std::uint32_t batch) {
    CaptureQuery query = All();
    query.batches = {batch};
    return query;
  }

  // Takes down and purges.
  void Drop(const CaptureQuery& query, const std::optional<Digest>& payload = std::nullopt) {
    auto plan = PlanRemoval(archive_->View(), query, payload);
    ASSERT_TRUE(plan) << plan.error().text;
    plan_ = *plan;
    const auto removal = CarryOut(*archive_, *plan, {"because", ""}, clock_, random_);
    ASSERT_TRUE(removal) << removal.error().text;
    const auto purged = PurgeRemoved(*archive_);
    ASSERT_TRUE(purged) << purged.error().text;
  }

  // The payload of the only capture of a URL and month, or why there is none.
  std::string PayloadOf(const std::string& url, std::uint32_t batch) {
    const ArchiveView view = archive_->View();
    CaptureQuery query = Of(url);
    query.batches = {batch};
    CaptureResults results(view, query);
    const auto held = results.Next();
    if (!held) return held.error().text;
    if (*held == nullptr) return "no such capture";
    const bool is_revisit = ((*held)->row.flags & catalog::kRevisit) != 0;
    const Result<catalog::HeldCapture> original =
        is_revisit ? RevisitResolver(view).Resolve(**held) : Result<catalog::HeldCapture>(**held);
    if (!original) return original.error().text;
    const auto stored = view.Open(original->row);
    if (!stored) return stored.error().text;
    std::string block;
    const Status read = ForEachPiece(**stored, 0, [&](std::string_view piece) -> Status {
      block += piece;
      return {};
    });
    if (!read) return read.error().text;
    return block.substr(block.find("\r\n\r\n") + 4);
  }

  // What an export of that capture has of it.
  std::string ExportOf(const std::string& url, std::uint32_t batch) {
    const ArchiveView view = archive_->View();
    CaptureQuery query = Of(url);
    query.batches = {batch};
    CaptureResults results(view, query);
    const auto held = results.Next();
    if (!held || *held == nullptr) return "no such capture";
    io::StringSink sink;
    auto warc = WarcExport::Begin(view, clock_, random_, sink,
                                  {.compression = record::Compression::kNone, .filename = ""});
    if (!warc) return warc.error().text;
    const auto added = (*warc)->Add(**held);
    return added ? sink.content() : added.error().text;
  }

  // How many revisits of the last run lack their payload, which is the same in all ways to count.
  std::uint64_t UnresolvedOfLastRun() {
    const ArchiveView view = archive_->View();
    const auto run = static_cast<std::uint32_t>(files_);
    const auto slowly = FindUnresolved(view, run, {.revisits_max = 1, .look_ups_max = 0});
    const auto found = FindUnresolved(view, run);
    EXPECT_TRUE(slowly && found && slowly->missing.captures == found->missing.captures);
    return found ? found->missing.captures : 0;
  }

  void ExpectNoDefects() {
    const ArchiveView view = archive_->View();
    const auto outcome =
        Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; });
    ASSERT_TRUE(outcome) << outcome.error().text;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  io::ManualClock clock_{testing::kNow};
  io::SeededRandom random_{5};
  std::unique_ptr<ArchiveWriter> archive_;
  RemovalPlan plan_;
  int files_ = 0;
};

}  // namespace stele::archive::testing
