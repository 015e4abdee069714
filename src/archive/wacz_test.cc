#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "archive/purge.h"
#include "archive/test_archive.h"
#include "archive/verify.h"
#include "archive/wacz_export.h"
#include "archive/wacz_file.h"
#include "codec/crc32.h"
#include "codec/deflate_codec.h"
#include "codec/gzip_codec.h"
#include "formats/zip/zip_format.h"
#include "formats/zip/zip_reader.h"
#include "formats/zip/zip_writer.h"
#include "io/fault_file_system.h"
#include "util/coding.h"
#include "util/test_stride.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::Lines;
using testing::PutFile;
using testing::WarcText;

std::string FirstWarc() {
  return WarcText()
      .Response("http://a.example/", "2004-05-30T01:02:03Z", "<p>one")
      .Request("http://a.example/", "2004-05-30T01:02:03Z", "GET / HTTP/1.1")
      .Response("http://a.example/frame", "2004-05-30T01:02:04Z", "<p>frame")
      .bytes();
}
std::string SecondWarc() {
  return WarcText(record::Compression::kNone, 8)
      .Response("http://b.example/x", "2004-06-01T00:00:00.250Z", "two", "text/plain")
      .Response("http://a.example/", "2004-06-02T00:00:00Z", "<p>three")
      .bytes();
}

constexpr std::string_view kPages =
    "{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"All\"}\n"
    "{\"id\": \"1\", \"url\": \"http://a.example/#top\", \"ts\": \"2004-05-30T01:02:03.789Z\"}\n"
    "no JSON\n"
    "{\"id\": \"2\", \"url\": \"http://b.example/x\", \"ts\": \"2004-06-01T00:00:00Z\"}\n";

constexpr std::string_view kPagesWithText =
    "{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"All\", \"hasText\": true}\n"
    "{\"id\": \"1\", \"url\": \"http://a.example/#top\", \"ts\": \"2004-05-30T01:02:03.789Z\", "
    "\"text\": \"first words\"}\n"
    "{\"id\": \"2\", \"url\": \"http://b.example/x\", \"ts\": \"2004-06-01T00:00:00Z\", \"text\": "
    "\"second \\u0022words\"}\n";

std::string Resource(std::string_view name, std::string_view bytes) {
  return fmt::format("{{\"path\": \"{}\", \"hash\": \"{}\", \"bytes\": {}}}", name,
                     DigestOf(DigestAlgorithm::kSha256, bytes).Labelled(), bytes.size());
}

// A WACZ file of two WARC files, whose list of digests speaks of `listed` as the first.
std::string WaczBytes(const std::string& listed, std::string_view pages = kPages) {
  io::StringSink sink;
  zip::ZipWriter zip(sink, {.time = testing::kNow});
  EXPECT_TRUE(zip.Add("archive/1.warc.gz", FirstWarc()));
  EXPECT_TRUE(zip.Add("pages/pages.jsonl", pages));
  EXPECT_TRUE(zip.Add("archive/2.warc", SecondWarc()));
  const std::string package =
      fmt::format("{{\"resources\": [{}, {}, {}]}}", Resource("archive/1.warc.gz", listed),
                  Resource("archive/2.warc", SecondWarc()), Resource("pages/pages.jsonl", pages));
  EXPECT_TRUE(zip.Add("datapackage.json", package));
  EXPECT_TRUE(zip.Add("datapackage-digest.json", Resource("datapackage.json", package)));
  EXPECT_TRUE(zip.Finish());
  return sink.Take();
}

// "http://a.example/ 20040530010203 page" for each capture.
std::multiset<std::string> PagesAndOthers(const ArchiveView& view) {
  CaptureQuery all;
  all.where.what = catalog::SelectAll();
  CaptureResults results(view, all);
  std::multiset<std::string> found;
  for (;;) {
    Result<const catalog::HeldCapture*> held = results.Next();
    EXPECT_TRUE(held);
    if (!held || *held == nullptr) return found;
    const catalog::Capture& row = (*held)->row;
    found.insert(fmt::format("{} {}{}", row.url, FormatDigits14(row.time),
                             (row.flags & catalog::kPage) != 0 ? " page" : ""));
    // Each can be read where it lies.
    const auto record = view.Open(row);
    EXPECT_TRUE(record) << record.error().text;
  }
}

const std::multiset<std::string> kListed = {
    "http://a.example/ 20040530010203 page", "http://a.example/frame 20040530010204",
    "http://b.example/x 20040601000000 page", "http://a.example/ 20040602000000"};

std::vector<std::string> DefectsOf(const ArchiveView& view) {
  std::vector<std::string> defects;
  EXPECT_TRUE(Verify(view, {}, [&](const std::string& line) { defects.push_back(line); }));
  return defects;
}

TEST(Wacz, ItsOwnListSaysWhatIsAPage) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", WaczBytes(FirstWarc()));
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  {
    auto archive = lab.Open();
    ASSERT_TRUE(archive);
    ASSERT_TRUE((*archive)->BeginRun("import", ""));
    const auto outcome = ImportFile(**archive, 1, "x.wacz", {});
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_TRUE(outcome->is_new);
    EXPECT_TRUE(outcome->complaints.empty()) << outcome->complaints[0];
    EXPECT_TRUE(outcome->summary.losses.empty());
    EXPECT_EQ(outcome->container.captures, 4u);
    EXPECT_EQ(*io::ReadFile(fs, "a/volumes/main/00000001/x.wacz"), WaczBytes(FirstWarc()));
    EXPECT_EQ(PagesAndOthers((*archive)->View()), kListed);
    EXPECT_EQ(DefectsOf((*archive)->View()), std::vector<std::string>());
    // It is one file, and comes once.
    const auto again = ImportFile(**archive, 1, "x.wacz", {});
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->is_new);
    EXPECT_EQ((*archive)->View().holdings().containers().size(), 1u);
  }
  std::vector<std::string> before;
  for (const auto rebuild :
       {ArchiveWriter::Rebuild::kNothing, ArchiveWriter::Rebuild::kCatalogAndRows}) {
    auto archive = lab.Open(rebuild);
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_EQ(PagesAndOthers((*archive)->View()), kListed);
    EXPECT_EQ(DefectsOf((*archive)->View()), std::vector<std::string>());
    if (before.empty()) before = Lines((*archive)->View());
    EXPECT_EQ(Lines((*archive)->View()), before);
  }
}

TEST(Wacz, WithoutAListPagesAreJudgedAsElsewhere) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", WaczBytes(FirstWarc(), "{\"format\": \"json-pages-1.0\"}\n"));
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 1, "x.wacz", {}));
  EXPECT_EQ(
      PagesAndOthers((*archive)->View()),
      (std::multiset<std::string>{
          "http://a.example/ 20040530010203 page", "http://a.example/frame 20040530010204 page",
          "http://b.example/x 20040601000000", "http://a.example/ 20040602000000 page"}));
}

TEST(Wacz, SaysWhatIsNotAsItsListOfDigestsSays) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", WaczBytes("something else"));
  const auto wacz = OpenWacz(fs, "x.wacz");
  ASSERT_TRUE(wacz);
  ASSERT_NE(*wacz, nullptr);
  const auto found = (*wacz)->Examine();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->complaints.size(), 2u);
  EXPECT_NE(found->complaints[0].find("archive/1.warc.gz has "), std::string::npos);
  EXPECT_NE(found->complaints[1].find("archive/1.warc.gz is not what it was"), std::string::npos);
  EXPECT_EQ(found->parts.size(), 2u);
}

TEST(Wacz, ACutOneGivesWhatIsThere) {
  io::MemoryFileSystem fs;
  const std::string whole = WaczBytes(FirstWarc());
  PutFile(fs, "x.wacz", whole.substr(0, whole.size() - 100));
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  const auto outcome = ImportFile(**archive, 1, "x.wacz", {});
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_FALSE(outcome->summary.losses.empty());
  EXPECT_GE(PagesAndOthers((*archive)->View()).size(), 2u);
}

// All bytes of a WACZ file's members.
std::string Unpacked(io::FileSystem& fs, const std::string& path) {
  const auto zip = zip::ZipReader::Open(*fs.OpenForReading(path));
  EXPECT_TRUE(zip);
  std::string all;
  for (const zip::Entry& entry : (*zip)->entries()) {
    const std::string bytes = *(*zip)->ReadContent(entry, 1 << 20);
    const Result<std::string> plain =
        entry.name.ends_with(".gz") ? codec::GzipCodec().Decompress(bytes, 1 << 20) : bytes;
    EXPECT_TRUE(plain) << entry.name;
    all += entry.name + '\n' + (plain ? *plain : "") + '\n';
  }
  return all;
}

TEST(Wacz, W15_WhatIsTakenDownIsPurgedFromIt) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", WaczBytes(FirstWarc(), kPagesWithText));
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 1, "x.wacz", {}));
  const std::vector<std::string> before = Lines((*archive)->View());
  ASSERT_TRUE((*archive)->Remove({{200405, 0}}, "asked for", ""));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_FALSE(*fs.Exists("a/volumes/main/00000001/x.wacz"));
  const std::string left = Unpacked(fs, "a/volumes/main/00000002/x.wacz");
  EXPECT_EQ(left.find("<p>one"), std::string::npos);
  EXPECT_EQ(left.find("first words"), std::string::npos);
  EXPECT_NE(left.find("<p>frame"), std::string::npos);
  EXPECT_NE(left.find("second \\u0022words"), std::string::npos);
  EXPECT_EQ(PagesAndOthers((*archive)->View()),
            (std::multiset<std::string>{"http://a.example/frame 20040530010204",
                                        "http://b.example/x 20040601000000 page",
                                        "http://a.example/ 20040602000000"}));
  EXPECT_EQ(DefectsOf((*archive)->View()), std::vector<std::string>());
  const std::vector<std::string> after = Lines((*archive)->View());
  archive->reset();
  archive = lab.Open(ArchiveWriter::Rebuild::kCatalogAndRows);
  ASSERT_TRUE(archive) << archive.error().text;
  EXPECT_EQ(Lines((*archive)->View()), after);
  ASSERT_TRUE((*archive)->Remove({{200405, 1}, {200406, 0}, {200406, 1}}, "asked for", ""));
  ASSERT_TRUE(PurgeRemoved(**archive));
  EXPECT_TRUE((*archive)->View().holdings().containers().empty());
}

TEST(Wacz, W15_RecordsThatShareAMemberInItArePurged) {
  const std::string shared = *codec::GzipCodec().Compress(
      WarcText(record::Compression::kNone)
          .Response("http://s.example/", "2004-05-30T01:02:03Z", "gone")
          .Request("http://s.example/", "2004-05-30T01:02:03Z", "GET /s")
          .Response("http://a.example/", "2004-05-30T01:02:03Z", "here")
          .Request("http://a.example/", "2004-05-30T01:02:03Z", "GET /a")
          .bytes(),
      6);
  io::StringSink sink;
  zip::ZipWriter zip(sink, {.time = testing::kNow});
  ASSERT_TRUE(zip.Add("archive/1.warc.gz", shared));
  ASSERT_TRUE(zip.Finish());
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", sink.Take());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 1, "x.wacz", {}));
  ASSERT_TRUE((*archive)->Remove({{200405, 0}}, "asked for", ""));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  const std::string left = Unpacked(fs, "a/volumes/main/00000002/x.wacz");
  EXPECT_EQ(left.find("gone"), std::string::npos);
  EXPECT_EQ(left.find("GET /s"), std::string::npos);
  EXPECT_NE(left.find("here"), std::string::npos);
  EXPECT_NE(left.find("GET /a"), std::string::npos);
  EXPECT_EQ(DefectsOf((*archive)->View()), std::vector<std::string>());
}

// A WACZ file of these archive files.
std::string WaczOf(const std::vector<std::pair<std::string, std::string>>& files) {
  io::StringSink sink;
  zip::ZipWriter zip(sink, {.time = testing::kNow});
  for (const auto& [name, bytes] : files) EXPECT_TRUE(zip.Add("archive/" + name, bytes));
  EXPECT_TRUE(zip.Finish());
  return sink.Take();
}

ImportOutcome ImportOne(ArchiveWriter& archive, const std::string& path) {
  const auto run = archive.BeginRun("import", "");
  EXPECT_TRUE(run);
  const auto outcome = ImportFile(archive, *run, path, {});
  EXPECT_TRUE(outcome) << outcome.error().text;
  EXPECT_TRUE(archive.EndRun(*run));
  return outcome ? *outcome : ImportOutcome();
}

// A ZIP file whose members are deflated, as zip writes them when nobody tells it not to.
std::string Deflated(const std::vector<std::pair<std::string, std::string>>& members) {
  const auto put16 = [](std::string& out, std::size_t value) {
    out += static_cast<char>(value & 0xff);
    out += static_cast<char>(value >> 8);
  };
  std::string file;
  std::string directory;
  for (const auto& [name, bytes] : members) {
    const std::string packed = *codec::DeflateCodec().Compress(bytes, 6);
    std::string head;
    put16(head, zip::kVersion);
    put16(head, 0);
    put16(head, zip::kDeflatedMethod);
    PutFixed32(head, 0);
    PutFixed32(head, codec::Crc32(0, bytes));
    PutFixed32(head, static_cast<std::uint32_t>(packed.size()));
    PutFixed32(head, static_cast<std::uint32_t>(bytes.size()));
    put16(head, name.size());
    put16(head, 0);
    PutFixed32(directory, zip::kCentralSignature);
    put16(directory, zip::kVersion);
    directory += head + std::string(10, '\0');
    PutFixed32(directory, static_cast<std::uint32_t>(file.size()));
    directory += name;
    PutFixed32(file, zip::kLocalSignature);
    file += head + name + packed;
  }
  const std::size_t begin = file.size();
  file += directory;
  PutFixed32(file, zip::kEndSignature);
  PutFixed32(file, 0);
  put16(file, members.size());
  put16(file, members.size());
  PutFixed32(file, static_cast<std::uint32_t>(directory.size()));
  PutFixed32(file, static_cast<std::uint32_t>(begin));
  put16(file, 0);
  return file;
}

std::string PlainRecord(std::string_view fields, std::string_view block) {
  return fmt::format("WARC/1.1\r\n{}Content-Length: {}\r\n\r\n{}\r\n\r\n", fields, block.size(),
                     block);
}

// Records that no index lists: derived and without a URL, undated, of no capture, of no known type.
std::string UnlistedRecords() {
  constexpr std::string_view kDate = "WARC-Date: 2004-05-30T01:02:03Z\r\n";
  return PlainRecord(fmt::format("WARC-Type: conversion\r\nWARC-Record-ID: <urn:x:2>\r\n{}", kDate),
                     "a conversion") +
         PlainRecord(fmt::format("WARC-Type: metadata\r\nWARC-Record-ID: <urn:x:3>\r\n{}"
                                 "WARC-Target-URI: http://d.example/\r\n"
                                 "Content-Type: application/warc-fields\r\n",
                                 kDate),
                     "a note on nothing") +
         PlainRecord(
             "WARC-Type: resource\r\nWARC-Record-ID: <urn:x:4>\r\nWARC-Date: someday\r\n"
             "WARC-Target-URI: http://e.example/\r\n",
             "undated") +
         PlainRecord(fmt::format("WARC-Type: unheard-of\r\nWARC-Record-ID: <urn:x:5>\r\n{}", kDate),
                     "an unknown type");
}

std::string MemberOf(io::FileSystem& fs, const std::string& path, std::string_view name) {
  const auto zip = zip::ZipReader::Open(*fs.OpenForReading(path));
  EXPECT_TRUE(zip);
  const zip::Entry* entry = (*zip)->Find(name);
  EXPECT_NE(entry, nullptr) << name;
  return entry == nullptr ? "" : *(*zip)->ReadContent(*entry, 1 << 20);
}

TEST(Wacz, I7_APurgeKeepsEveryRecordThatDoesNotGo) {
  const std::string about = PlainRecord(
      "WARC-Type: warcinfo\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2004-05-30T01:02:03Z\r\n",
      "software: another\r\n");
  WarcText goes(record::Compression::kNone, 3);
  goes.Response("http://s.example/", "2004-05-30T01:02:03Z", "gone")
      .Request("http://s.example/", "2004-05-30T01:02:03Z", "GET /?q=hidden HTTP/1.1");
  const std::string stays = WarcText(record::Compression::kNone, 4)
                                .Response("http://a.example/", "2004-05-30T01:02:04Z", "here")
                                .bytes();
  const std::string plain = about + goes.bytes() + UnlistedRecords() + stays;
  for (const bool is_packed : {false, true}) {
    SCOPED_TRACE(is_packed);
    io::MemoryFileSystem fs;
    PutFile(fs, "x.wacz",
            is_packed ? Deflated({{"archive/1.warc", plain}, {"archive/2.warc", SecondWarc()}})
                      : WaczOf({{"1.warc", plain}, {"2.warc", SecondWarc()}}));
    ArchiveLab lab(fs);
    ASSERT_TRUE(lab.Create());
    auto archive = lab.Open();
    EXPECT_EQ(ImportOne(**archive, "x.wacz").summary.unlisted, 1u);
    ASSERT_TRUE((*archive)->Remove({{200405, 0}}, "asked for", ""));
    const auto purged = PurgeRemoved(**archive);
    ASSERT_TRUE(purged) << purged.error().text;
    EXPECT_TRUE(purged->failures.empty());
    const std::string path = "a/volumes/main/00000002/x.wacz";
    EXPECT_EQ(MemberOf(fs, path, "archive/1.warc"), about + UnlistedRecords() + stays);
    EXPECT_EQ(MemberOf(fs, path, "archive/2.warc"), SecondWarc());
    EXPECT_EQ(Lines((*archive)->View()).size(), 3u);
    EXPECT_EQ(DefectsOf((*archive)->View()), std::vector<std::string>());
    EXPECT_EQ(fs.List("a/volumes/main/00000002")->size(), 1u);
    // Without any capture, they still stay.
    ASSERT_TRUE((*archive)->Remove({{200405, 1}, {200406, 0}, {200406, 1}}, "asked for", ""));
    ASSERT_TRUE(PurgeRemoved(**archive));
    EXPECT_EQ(MemberOf(fs, "a/volumes/main/00000003/x.wacz", "archive/1.warc"),
              about + UnlistedRecords());
  }
}

// A request in one file of a WACZ file may belong to a capture in another.
TEST(Wacz, I7_WhatNamesAPurgedCaptureFromAnotherFileGoesToo) {
  WarcText both(record::Compression::kNone, 3);
  const std::string first =
      both.Response("http://s.example/", "2004-05-30T01:02:03Z", "gone").bytes();
  const std::string second =
      both.Request("http://s.example/", "2004-05-30T01:02:03Z", "GET /?q=hidden HTTP/1.1")
          .bytes()
          .substr(first.size());
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", WaczOf({{"1.warc", first + SecondWarc()}, {"2.warc", second}}));
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ImportOne(**archive, "x.wacz");
  ASSERT_TRUE((*archive)->Remove({{200405, 0}}, "asked for", ""));
  ASSERT_TRUE(PurgeRemoved(**archive));
  const std::string left = Unpacked(fs, "a/volumes/main/00000002/x.wacz");
  EXPECT_EQ(left.find("hidden"), std::string::npos);
  EXPECT_NE(left.find("<p>three"), std::string::npos);
}

TEST(Wacz, W15_TheFilesThatItWasMadeOfComeOnce) {
  for (const bool wacz_first : {true, false}) {
    io::MemoryFileSystem fs;
    PutFile(fs, "x.wacz", WaczBytes(FirstWarc()));
    PutFile(fs, "1.warc.gz", FirstWarc());
    PutFile(fs, "2.warc", SecondWarc());
    ArchiveLab lab(fs);
    ASSERT_TRUE(lab.Create());
    for (const auto rebuild :
         {ArchiveWriter::Rebuild::kNothing, ArchiveWriter::Rebuild::kCatalogAndRows}) {
      auto archive = lab.Open(rebuild);
      ASSERT_TRUE((*archive)->BeginRun("import", ""));
      std::vector<std::string> files = {"x.wacz", "1.warc.gz", "2.warc"};
      if (!wacz_first) std::reverse(files.begin(), files.end());
      for (const std::string& file : files) {
        const auto outcome = ImportFile(**archive, 1, file, {});
        ASSERT_TRUE(outcome) << outcome.error().text;
      }
      EXPECT_EQ(Lines((*archive)->View()).size(), 4u);
      EXPECT_EQ((*archive)->View().holdings().containers().size(), wacz_first ? 1u : 2u);
    }
  }
}

TEST(Wacz, I6_WhatIsHereOfItIsNotListedAgain) {
  io::MemoryFileSystem fs;
  const std::string bytes = WaczBytes(FirstWarc());
  PutFile(fs, "x.wacz", bytes);
  PutFile(fs, "1.warc.gz", FirstWarc());
  PutFile(fs, "2.warc", SecondWarc());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  std::vector<std::string> before;
  {
    auto archive = lab.Open();
    ImportOne(**archive, "1.warc.gz");
    const ImportOutcome outcome = ImportOne(**archive, "x.wacz");
    EXPECT_TRUE(outcome.is_new);
    EXPECT_EQ(outcome.container.captures, 2u);
    ASSERT_EQ(outcome.container.left_out.size(), 1u);
    EXPECT_EQ(outcome.container.left_out[0].name, "archive/1.warc.gz");
    EXPECT_EQ(outcome.container.sha256, DigestOf(DigestAlgorithm::kSha256, bytes).Text());
    EXPECT_EQ(*io::ReadFile(fs, "a/volumes/main/00000002/x.wacz"), bytes);
    before = Lines((*archive)->View());
    EXPECT_EQ(before.size(), 4u);
  }
  for (const auto rebuild :
       {ArchiveWriter::Rebuild::kNothing, ArchiveWriter::Rebuild::kCatalogAndRows}) {
    auto archive = lab.Open(rebuild);
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_TRUE((*archive)->index_failures().empty());
    EXPECT_EQ(Lines((*archive)->View()), before);
    EXPECT_EQ(PagesAndOthers((*archive)->View()).size(), 4u);
    EXPECT_EQ(DefectsOf((*archive)->View()), std::vector<std::string>());
    for (const char* file : {"x.wacz", "1.warc.gz", "2.warc"}) {
      EXPECT_FALSE(ImportOne(**archive, file).is_new) << file;
    }
    EXPECT_EQ(Lines((*archive)->View()), before);
  }
}

TEST(Wacz, I6_FilesThatTwoOfThemShareAreListedOnce) {
  io::MemoryFileSystem fs;
  const std::string third = WarcText(record::Compression::kGzip, 9)
                                .Response("http://c.example/", "2004-05-31T00:00:00Z", "third")
                                .bytes();
  PutFile(fs, "x.wacz", WaczOf({{"1.warc.gz", FirstWarc()}, {"2.warc", SecondWarc()}}));
  PutFile(fs, "y.wacz",
          WaczOf({{"a.warc", SecondWarc()}, {"b.warc.gz", third}, {"c.warc.gz", third}}));
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  for (const auto rebuild :
       {ArchiveWriter::Rebuild::kNothing, ArchiveWriter::Rebuild::kCatalogAndRows}) {
    auto archive = lab.Open(rebuild);
    ASSERT_TRUE(archive) << archive.error().text;
    ImportOne(**archive, "x.wacz");
    ImportOne(**archive, "y.wacz");
    EXPECT_EQ(Lines((*archive)->View()).size(), 5u);
    EXPECT_EQ((*archive)->View().holdings().containers().size(), 2u);
    EXPECT_EQ(DefectsOf((*archive)->View()), std::vector<std::string>());
  }
}

// The bytes of what is purged are also in the WACZ file that left them out.
TEST(Wacz, I7_WhatItLeftOutIsPurgedFromItToo) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", WaczBytes(FirstWarc(), kPagesWithText));
  PutFile(fs, "1.warc.gz", FirstWarc());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ImportOne(**archive, "1.warc.gz");
  ImportOne(**archive, "x.wacz");
  ASSERT_TRUE((*archive)->Remove({{200405, 0}}, "asked for", ""));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_EQ(purged->captures, 1u);
  EXPECT_EQ(purged->containers, 2u);
  EXPECT_TRUE(purged->failures.empty());
  std::vector<std::string> after;
  {
    const ArchiveView view = (*archive)->View();
    after = Lines(view);
    EXPECT_EQ(after.size(), 3u);
    EXPECT_EQ(DefectsOf(view), std::vector<std::string>());
    for (const auto& [number, container] : view.holdings().containers()) {
      EXPECT_TRUE(container.left_out.empty());
      if (!container.name.ends_with(".wacz")) continue;
      const std::string left = Unpacked(fs, *view.PathOf(number));
      EXPECT_EQ(left.find("<p>one"), std::string::npos);
      EXPECT_EQ(left.find("first words"), std::string::npos);
      EXPECT_NE(left.find("<p>three"), std::string::npos);
    }
  }
  EXPECT_EQ(PurgeRemoved(**archive)->containers, 0u);
  archive->reset();
  archive = lab.Open(ArchiveWriter::Rebuild::kCatalogAndRows);
  ASSERT_TRUE(archive) << archive.error().text;
  EXPECT_EQ(Lines((*archive)->View()), after);
  // It comes back only when somebody insists.
  const auto run = (*archive)->BeginRun("import", "");
  EXPECT_FALSE(ImportFile(**archive, *run, "x.wacz", {}));
  EXPECT_FALSE(ImportFile(**archive, *run, "1.warc.gz", {}));
}

TEST(Wacz, W15_FilesThatZipCompressedAreReadToo) {
  io::MemoryFileSystem fs;
  const std::string bytes = Deflated({{"archive/1.warc.gz", FirstWarc()},
                                      {"pages/pages.jsonl", std::string(kPagesWithText)},
                                      {"archive/2.warc", SecondWarc()}});
  PutFile(fs, "x.wacz", bytes);
  PutFile(fs, "1.warc.gz", FirstWarc());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  for (const auto rebuild :
       {ArchiveWriter::Rebuild::kNothing, ArchiveWriter::Rebuild::kCatalogAndRows}) {
    auto archive = lab.Open(rebuild);
    ASSERT_TRUE(archive) << archive.error().text;
    const auto run = (*archive)->BeginRun("import", "");
    for (const char* file : {"x.wacz", "1.warc.gz"}) {
      const auto outcome = ImportFile(**archive, *run, file, {});
      ASSERT_TRUE(outcome) << outcome.error().text;
      EXPECT_TRUE(outcome->summary.losses.empty());
    }
    const ArchiveView view = (*archive)->View();
    EXPECT_EQ(view.holdings().containers().size(), 1u);
    EXPECT_EQ(*io::ReadFile(fs, "a/volumes/main/00000001/x.wacz"), bytes);
    EXPECT_EQ(PagesAndOthers(view), kListed);
    EXPECT_EQ(DefectsOf(view), std::vector<std::string>());
  }
  // What is exported has all of them, and what stays after a purge, too.
  auto archive = lab.Open();
  ASSERT_TRUE((*archive)->Remove({{200405, 0}}, "asked for", ""));
  const auto purged = PurgeRemoved(**archive);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_EQ(Lines((*archive)->View()).size(), 3u);
  const std::string left = Unpacked(fs, "a/volumes/main/00000002/x.wacz");
  EXPECT_EQ(left.find("<p>one"), std::string::npos);
  EXPECT_NE(left.find("<p>three"), std::string::npos);
}

TEST(Wacz, W15_TheBytesOfARecordAreThoseOfItsPart) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", Deflated({{"archive/1.warc.gz", FirstWarc()}}));
  const auto wacz = OpenWacz(fs, "x.wacz");
  ASSERT_TRUE(wacz) << wacz.error().text;
  const WaczFile::Part& part = (*wacz)->parts().at(0);
  EXPECT_TRUE(part.is_packed);
  EXPECT_GE(part.begin, io::ReadFile(fs, "x.wacz")->size());
  auto source = OpenBytes(fs, "x.wacz", part.begin + 10, 20);
  ASSERT_TRUE(source) << source.error().text;
  std::string read(100, '\0');
  const Result<std::size_t> size = (*source)->Read(read);
  ASSERT_TRUE(size);
  EXPECT_EQ(read.substr(0, *size), FirstWarc().substr(10, 20));
}

// Whatever byte is wrong: the file is taken or refused, and what is listed can be opened or is said
// to be damaged.
TEST(Wacz, W15_DamagedFilesThatZipCompressedAreNamed) {
  const std::string whole = Deflated({{"archive/1.warc.gz", FirstWarc()}});
  int taken = 0;
  int named = 0;
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    SCOPED_TRACE(at);
    io::MemoryFileSystem fs;
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    PutFile(fs, "x.wacz", bytes);
    ArchiveLab lab(fs);
    ASSERT_TRUE(lab.Create());
    auto archive = lab.Open();
    ASSERT_TRUE((*archive)->BeginRun("import", ""));
    const auto outcome = ImportFile(**archive, 1, "x.wacz", {});
    if (!outcome) {
      EXPECT_NE(outcome.error().code, ErrorCode::kIo) << outcome.error().text;
      continue;
    }
    ++taken;
    if (!outcome->summary.losses.empty() || !outcome->complaints.empty()) ++named;
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(named, 0);
}

// All captures of an archive as a WACZ file.
Result<std::string> ExportAll(const ArchiveView& view) {
  io::ManualClock clock{testing::kNow};
  io::SeededRandom random{3};
  Result<std::unique_ptr<WaczExport>> wacz =
      WaczExport::Begin(view, clock, random, "spool", {.software = "a test"});
  if (!wacz) return wacz.error();
  CaptureQuery all;
  all.where.what = catalog::SelectAll();
  CaptureResults results(view, all);
  for (;;) {
    Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    const Result<ExportedCapture> added = (*wacz)->Add(**held);
    if (!added) return added.error();
  }
  io::StringSink sink;
  const Status finished = (*wacz)->Finish(sink);
  if (!finished) return finished.error();
  return sink.Take();
}

TEST(Wacz, ExportedAndBroughtInAgainItIsTheSame) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", WaczBytes(FirstWarc()));
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 1, "x.wacz", {}));
  const Result<std::string> exported = ExportAll((*archive)->View());
  ASSERT_TRUE(exported) << exported.error().text;
  EXPECT_FALSE(*fs.Exists("spool"));

  io::MemoryFileSystem other;
  PutFile(other, "y.wacz", *exported);
  ArchiveLab second(other);
  ASSERT_TRUE(second.Create());
  auto again = second.Open();
  ASSERT_TRUE((*again)->BeginRun("import", ""));
  const auto outcome = ImportFile(**again, 1, "y.wacz", {});
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_TRUE(outcome->complaints.empty());
  EXPECT_EQ(PagesAndOthers((*again)->View()), kListed);
}

TEST(Wacz, W15_TheTextsOfPagesAreExportedAgain) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x.wacz", WaczBytes(FirstWarc(), kPagesWithText));
  PutFile(fs, "y.warc",
          WarcText(record::Compression::kNone, 9)
              .Response("http://c.example/", "2005-01-01T00:00:00Z", "<title>C</title>")
              .bytes());
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 1, "x.wacz", {}));
  ASSERT_TRUE(ImportFile(**archive, 1, "y.warc", {}));
  PutFile(fs, "z.wacz", *ExportAll((*archive)->View()));
  std::vector<std::string> pages;
  const auto wacz = OpenWacz(fs, "z.wacz");
  ASSERT_TRUE((*wacz)->ForEachPage([&](const WaczPage& page) -> Status {
    pages.push_back(
        fmt::format("{} {} {}|{}", page.url, FormatIso(page.time), page.title, page.text));
    return {};
  }));
  EXPECT_EQ(pages,
            (std::vector<std::string>{"http://a.example/ 2004-05-30T01:02:03Z |first words",
                                      "http://b.example/x 2004-06-01T00:00:00Z |second \"words",
                                      "http://c.example/ 2005-01-01T00:00:00Z C|"}));
  EXPECT_FALSE(*fs.Exists("spool.pages.part"));
}

TEST(Wacz, AnExportReportsEveryFailureOfTheDisk) {
  io::MemoryFileSystem disk;
  PutFile(disk, "x.wacz", WaczBytes(FirstWarc()));
  std::string whole;
  {
    ArchiveLab lab(disk);
    ASSERT_TRUE(lab.Create());
    auto archive = lab.Open();
    ASSERT_TRUE((*archive)->BeginRun("import", ""));
    ASSERT_TRUE(ImportFile(**archive, 1, "x.wacz", {}));
    ASSERT_TRUE((*archive)->EndRun(1));
    whole = *ExportAll((*archive)->View());
  }
  for (int fail_at = 1;; fail_at += kTestStride) {
    io::FaultFileSystem fs(disk, fail_at);
    auto reader = ArchiveReader::Open(fs, "a");
    if (!reader) continue;
    const Result<std::string> exported = ExportAll((*reader)->View());
    if (!exported) continue;
    EXPECT_EQ(*exported, whole);
    EXPECT_GT(fail_at, 10);
    break;
  }
}

class WaczCrash : public ::testing::TestWithParam<bool> {};

TEST_P(WaczCrash, LosesNothingAcknowledgedWhereverTheDiskFails) {
  const std::string bytes = WaczBytes(FirstWarc());
  for (int fail_at = 1;; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    PutFile(disk, "x.wacz", bytes);
    {
      ArchiveLab lab(disk);
      ASSERT_TRUE(lab.Create());
    }
    disk.SyncAll();
    bool acknowledged = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      ArchiveLab lab(fs);
      auto archive = lab.Open();
      acknowledged = archive && (*archive)->BeginRun("import", "") &&
                     ImportFile(**archive, 1, "x.wacz", {}) && (*archive)->EndRun(1);
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    if (GetParam()) disk.Crash(dice);
    ArchiveLab lab(disk);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_TRUE(!acknowledged || Lines((*archive)->View()).size() == 4u);
    Result<std::uint32_t> run = (*archive)->BeginRun("import", "again");
    ASSERT_TRUE(run);
    const auto outcome = ImportFile(**archive, *run, "x.wacz", {});
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(PagesAndOthers((*archive)->View()), kListed);
    EXPECT_EQ(DefectsOf((*archive)->View()), std::vector<std::string>());
    EXPECT_EQ(disk.List("a/volumes/main")->size(), 2u);
    if (acknowledged) break;
  }
}

// A file that is here alone and in a WACZ file, of which a capture is purged.
TEST_P(WaczCrash, I7_APurgeLosesNothingElseWhereverTheDiskFails) {
  for (int fail_at = 1;; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    PutFile(disk, "x.wacz", WaczBytes(FirstWarc(), kPagesWithText));
    PutFile(disk, "1.warc.gz", FirstWarc());
    ArchiveLab lab(disk);
    ASSERT_TRUE(lab.Create());
    {
      auto archive = lab.Open();
      ImportOne(**archive, "1.warc.gz");
      ImportOne(**archive, "x.wacz");
      ASSERT_TRUE((*archive)->Remove({{200405, 0}}, "asked for", ""));
    }
    disk.SyncAll();
    bool acknowledged = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      ArchiveLab failing(fs);
      if (auto archive = failing.Open()) {
        const auto purged = PurgeRemoved(**archive);
        acknowledged = purged && purged->failures.empty();
      }
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    if (GetParam()) disk.Crash(dice);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    EXPECT_EQ(Lines((*archive)->View()).size(), 3u);
    const auto purged = PurgeRemoved(**archive);  // goes on where it was
    ASSERT_TRUE(purged) << purged.error().text;
    EXPECT_TRUE(!acknowledged || purged->containers == 0);
    const ArchiveView view = (*archive)->View();
    EXPECT_EQ(PagesAndOthers(view).size(), 3u);
    EXPECT_EQ(DefectsOf(view), std::vector<std::string>());
    EXPECT_EQ(view.holdings().containers().size(), 2u);
    for (const auto& [number, container] : view.holdings().containers()) {
      const std::string path = *view.PathOf(number);
      const std::string left = path.ends_with(".wacz") ? Unpacked(disk, path)
                                                       : *codec::GzipCodec().Decompress(
                                                             *io::ReadFile(disk, path), 1 << 20);
      EXPECT_EQ(left.find("<p>one"), std::string::npos);
      EXPECT_EQ(left.find("first words"), std::string::npos);
    }
    EXPECT_EQ(disk.List("a/volumes/main")->size(), 4u);
    if (acknowledged || HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPowerCut, WaczCrash, ::testing::Bool());

}  // namespace
}  // namespace stele::archive
