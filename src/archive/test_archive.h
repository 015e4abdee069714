#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "archive/archive_reader.h"
#include "archive/archive_writer.h"
#include "archive/capture_query.h"
#include "archive/import.h"
#include "formats/warc/warc_writer.h"
#include "io/clock.h"
#include "io/memory_file_system.h"
#include "io/random.h"
#include "util/digest.h"

// Archives in memory, and WARC files to fill them with.
namespace stele::archive::testing {

inline constexpr Timestamp kNow{1'700'000'000'000};

// A WARC file that is written record by record.
class WarcText {
 public:
  // Files with other seeds have other record ids.
  explicit WarcText(record::Compression compression = record::Compression::kGzip,
                    std::uint64_t seed = 7)
      : random_(seed) {
    warc::WriterOptions options;
    options.compression = compression;
    writer_ = *warc::WarcWriter::Create(sink_, options);
  }

  WarcText& Response(const std::string& url, const std::string& date, const std::string& body,
                     const std::string& type = "text/html", int status = 200) {
    const std::string block =
        fmt::format("HTTP/1.1 {} Any\r\nContent-Type: {}\r\n\r\n{}", status, type, body);
    warc::FieldList fields = Fields("response", url, date);
    fields.Add("Content-Type", "application/http; msgtype=response");
    fields.Add("WARC-Payload-Digest", DigestOf(DigestAlgorithm::kSha1, body).Labelled());
    return Write(fields, block);
  }
  // A response as it is, without digests.
  WarcText& Block(const std::string& url, const std::string& date, const std::string& block) {
    warc::FieldList fields = Fields("response", url, date);
    fields.Add("Content-Type", "application/http; msgtype=response");
    return Write(fields, block);
  }
  // As Heritrix writes it, with the digest of nothing.
  WarcText& NotModified(const std::string& url, const std::string& date,
                        const std::string& of_date = "") {
    warc::FieldList fields = Fields("revisit", url, date);
    if (!of_date.empty()) {
      fields.Add("WARC-Refers-To-Target-URI", url);
      fields.Add("WARC-Refers-To-Date", of_date);
    }
    fields.Add("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified");
    fields.Add("Content-Type", "application/http; msgtype=response");
    fields.Add("WARC-Payload-Digest", DigestOf(DigestAlgorithm::kSha1, "").Labelled());
    return Write(fields, "HTTP/1.1 304 Not Modified\r\n\r\n");
  }
  // Names nothing but what is given.
  WarcText& Revisit(const std::string& url, const std::string& date, const std::string& body,
                    const std::string& of_url = "", const std::string& of_date = "",
                    const std::string& of_id = "") {
    return RevisitWith(url, date, body,
                       {{"WARC-Refers-To-Target-URI", of_url},
                        {"WARC-Refers-To-Date", of_date},
                        {"WARC-Refers-To", of_id}});
  }
  // With these fields, where they are not empty.
  WarcText& RevisitWith(const std::string& url, const std::string& date, const std::string& body,
                        const std::vector<std::pair<std::string, std::string>>& more) {
    warc::FieldList fields = Fields("revisit", url, date);
    fields.Add("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
    fields.Add("Content-Type", "application/http; msgtype=response");
    if (!body.empty()) {
      fields.Add("WARC-Payload-Digest", DigestOf(DigestAlgorithm::kSha1, body).Labelled());
    }
    for (const auto& [name, value] : more) {
      if (!value.empty()) fields.Add(name, value);
    }
    return Write(fields, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
  }
  WarcText& Request(const std::string& url, const std::string& date, const std::string& head,
                    const std::string& body = "") {
    warc::FieldList fields = Fields("request", url, date);
    fields.Add("Content-Type", "application/http; msgtype=request");
    fields.Add("WARC-Concurrent-To", last_capture_);
    return Write(fields, head + "\r\n\r\n" + body);
  }
  WarcText& Notes(const std::string& url, const std::string& date, const std::string& lines) {
    warc::FieldList fields = Fields("metadata", url, date);
    fields.Add("Content-Type", "application/warc-fields");
    fields.Add("WARC-Concurrent-To", last_capture_);
    return Write(fields, lines);
  }

  // The id of the last response or revisit.
  const std::string& last_capture() const { return last_capture_; }
  const std::string& bytes() const { return sink_.content(); }

 private:
  warc::FieldList Fields(const std::string& type, const std::string& url, const std::string& date) {
    warc::FieldList fields;
    const std::string id = fmt::format("<urn:uuid:{}>", io::NewUuid(random_));
    if (type == "response" || type == "revisit") last_capture_ = id;
    fields.Add("WARC-Type", type);
    fields.Add("WARC-Record-ID", id);
    fields.Add("WARC-Date", date);
    fields.Add("WARC-Target-URI", url);
    return fields;
  }
  WarcText& Write(const warc::FieldList& fields, const std::string& block) {
    EXPECT_TRUE(writer_->Write(fields, block));
    return *this;
  }

  io::StringSink sink_;
  io::SeededRandom random_;
  std::unique_ptr<warc::WarcWriter> writer_;
  std::string last_capture_;
};

inline void PutFile(io::FileSystem& fs, const std::string& path, const std::string& bytes) {
  ASSERT_TRUE(io::ReplaceFile(fs, path, bytes));
}

// An archive in the directory "a" of a file system. Must outlive the writers that it opens.
class ArchiveLab {
 public:
  explicit ArchiveLab(io::FileSystem& fs, const catalog::CatalogOptions& catalog = {})
      : fs_(fs), catalog_(catalog) {}

  Status Create() {
    ArchiveConfig config;
    config.title = "test";
    config.volumes = {{.name = "main", .path = ""}};
    const Result<bool> made = ArchiveWriter::Create(fs_, "a", config);
    return made ? Status() : made.error();
  }
  Result<std::unique_ptr<ArchiveWriter>> Open(
      ArchiveWriter::Rebuild rebuild = ArchiveWriter::Rebuild::kNothing,
      std::optional<std::uint32_t> batch = std::nullopt) {
    return ArchiveWriter::Open({fs_, clock_, random_, "a test", catalog_}, "a", rebuild, batch);
  }

 private:
  io::FileSystem& fs_;
  const catalog::CatalogOptions catalog_;
  io::ManualClock clock_{kNow};
  io::SeededRandom random_{1};
};

// "200401/0 http://a/ 20040102030405006" for each capture that the query finds.
inline std::vector<std::string> Lines(const ArchiveView& view, const CaptureQuery& query = {}) {
  CaptureQuery asked = query;
  if (asked.where.what.ranges.empty()) asked.where.what = catalog::SelectAll();
  CaptureResults results(view, asked);
  std::vector<std::string> lines;
  for (;;) {
    Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) {
      ADD_FAILURE() << held.error().text;
      return lines;
    }
    if (*held == nullptr) return lines;
    const catalog::Capture& row = (*held)->row;
    lines.push_back(
        fmt::format("{}/{} {} {}", row.id.batch, row.id.serial, row.url, FormatDigits17(row.time)));
  }
}

}  // namespace stele::archive::testing
