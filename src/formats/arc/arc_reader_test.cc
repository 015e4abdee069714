#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/gzip_codec.h"
#include "formats/arc/arc_grammar.h"
#include "formats/record/test_damage.h"
#include "formats/record/test_reading.h"

namespace stele::arc {
namespace {

using record::Reading;
using record::RecordReader;
using record::RecordType;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kVersionBlock =
    "filedesc://test.arc 0.0.0.0 20140126200624 text/plain 76\n"
    "1 0 InternetArchive\n"
    "URL IP-address Archive-date Content-type Archive-length\n"
    "\n";

std::string MakeRecord(int number, std::string_view block) {
  return fmt::format("http://example.org/{} 192.0.2.1 20140126200624 text/plain {}\n{}\n", number,
                     block.size(), block);
}

std::string Gzip(std::string_view bytes) { return *codec::GzipCodec().Compress(bytes, 6); }
std::string Plain(std::string_view bytes) { return std::string(bytes); }

std::unique_ptr<record::Grammar> NewGrammar() { return std::make_unique<ArcGrammar>(); }
Reading ReadFile(std::string_view bytes) { return ReadAsFile(bytes, NewGrammar); }
Reading ReadPipe(std::string_view bytes) { return ReadAsPipe(bytes, NewGrammar); }

using Packing = std::string (*)(std::string_view);

class ArcReader : public testing::TestWithParam<Packing> {
 protected:
  std::string Pack(std::string_view record) const { return GetParam()(record); }
};

std::string NameOf(const testing::TestParamInfo<Packing>& packing) {
  constexpr std::array<const char*, 2> kNames = {"Plain", "Gzip"};
  return kNames[packing.index];
}

INSTANTIATE_TEST_SUITE_P(Packings, ArcReader, testing::Values(&Plain, &Gzip), NameOf);

TEST_P(ArcReader, ReadsRecordsWithTheirExtents) {
  const std::string v = Pack(kVersionBlock);
  const std::string a = Pack(MakeRecord(1, "one"));
  const std::string b = Pack(MakeRecord(2, ""));
  const std::string c = Pack(MakeRecord(3, std::string(3'000'000, 'x')));
  for (const Reading& reading : {ReadFile(v + a + b + c), ReadPipe(v + a + b + c)}) {
    ASSERT_EQ(reading.good.size(), 4u);
    EXPECT_EQ(reading.good[0], " ");
    EXPECT_EQ(reading.good[1], "http://example.org/1 one");
    EXPECT_EQ(reading.good[3].size(), 3'000'000 + 21u);
    EXPECT_THAT(reading.types, ElementsAre("warcinfo", "resource", "resource", "resource"));
    EXPECT_THAT(reading.offsets,
                ElementsAre(0, v.size(), v.size() + a.size(), v.size() + a.size() + b.size()));
    EXPECT_THAT(reading.lengths, ElementsAre(v.size(), a.size(), b.size(), c.size()));
    EXPECT_TRUE(reading.losses.empty());
    EXPECT_TRUE(reading.rules.empty());
  }
}

TEST_P(ArcReader, GoesToARecordByItsOffset) {
  const std::string a = Pack(MakeRecord(1, "one"));
  const std::string file = a + Pack(MakeRecord(2, "two"));
  io::MemoryFileSystem fs;
  ASSERT_TRUE(io::ReplaceFile(fs, "f", file));
  io::FileSource source(*fs.OpenForReading("f"));
  RecordReader reader(*record::OpenRecordInput(source), NewGrammar());
  for (const std::uint64_t offset : {a.size(), std::size_t{0}, a.size()}) {
    ASSERT_TRUE(reader.SkipTo(offset));
    Result<const record::Record*> record = reader.Next();
    ASSERT_TRUE(record);
    EXPECT_EQ((*record)->target_uri, offset == 0 ? "http://example.org/1" : "http://example.org/2");
  }
}

// Five records, packed one by one.
record::DamageTrial MakeTrial(Packing pack) {
  std::vector<std::string> records;
  for (int i = 0; i < 5; ++i) {
    const std::string block = fmt::format("HTTP/1.0 200 OK\r\n\r\nblock {}\n\nof: text", i);
    records.push_back(pack(i == 0 ? std::string(kVersionBlock) : MakeRecord(i, block)));
  }
  return record::DamageTrial(std::move(records), NewGrammar, pack == &Plain ? 0 : 4);
}

TEST_P(ArcReader, I5_AFlipAnywhereLosesNoRecordButTheOneItHits) {
  MakeTrial(GetParam()).FlipEveryBit();
}

TEST_P(ArcReader, I5_ACutAnywhereLosesNoUndamagedRecord) {
  MakeTrial(GetParam()).CutEverywhere({1, 2, 7, 60, 150, 300});
}

TEST_P(ArcReader, I5_ATruncatedFileKeepsAllWholeRecordsAndNamesTheLoss) {
  MakeTrial(GetParam()).Truncate(1);
}

TEST_P(ArcReader, I5_InsertedBytesLoseNoRecord) { MakeTrial(GetParam()).InsertGarbage(); }

TEST(ArcRecovery, I5_OneLineThatLooksLikeARecordIsNotBelieved) {
  std::string broken = MakeRecord(1, "see " + MakeRecord(9, "nothing of that length") + "there");
  broken.replace(broken.find(" 20140126200624"), 15, std::string(15, '?'));
  broken.replace(broken.find(" 192.0.2.1"), 10, std::string(10, '?'));
  const std::string rest = MakeRecord(2, "two") + MakeRecord(3, "three");
  const Reading reading = ReadFile(broken + rest);
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/2 two", "http://example.org/3 three"));
}

TEST(ArcRecovery, I5_ThreeRecordsInARowAreBelieved) {
  std::string run;
  for (int i = 1; i <= 4; ++i) run += MakeRecord(i, "text");
  for (int good = 1; good <= 4; ++good) {
    // `good` records in a row, then garbage, so that the file does not end well.
    const std::string file =
        "garbage\n" + run.substr(0, run.size() / 4 * static_cast<std::size_t>(good)) + "!garbage";
    EXPECT_EQ(ReadFile(file).good.empty(), good < 3) << good;
  }
}

TEST(ArcRecovery, PipesRecoverToo) {
  const std::string a = MakeRecord(1, "one");
  std::string broken = MakeRecord(2, "two");
  broken[4] = 'X';
  const std::string c = MakeRecord(3, "three");
  EXPECT_THAT(ReadPipe(a + broken + c).good,
              ElementsAre("http://example.org/1 one", "http://example.org/3 three"));
  std::string member = Gzip(broken);
  member[20] = static_cast<char>(member[20] ^ 1);
  EXPECT_THAT(ReadPipe(Gzip(a) + member + Gzip(c)).good,
              ElementsAre("http://example.org/1 one", "http://example.org/3 three"));
}

// Gives the only record of a file to `look`.
void LookAt(std::string_view file, const std::function<void(const record::Record&)>& look) {
  io::MemorySource source(file);
  RecordReader reader(*record::OpenRecordInput(source), NewGrammar());
  Result<const record::Record*> record = reader.Next();
  ASSERT_TRUE(record.ok() && *record != nullptr);
  look(**record);
}

TEST(ArcRecord, AnHttpResponseHasTheFieldsOfWarc) {
  const std::string block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhi";
  const std::string file = fmt::format(
      "http://example.org/ 192.0.2.1 20140126200624 text/html {}\n{}\n", block.size(), block);
  LookAt(file, [&](const record::Record& record) {
    EXPECT_EQ(record.format, record::Format::kArc);
    EXPECT_EQ(record.type, RecordType::kResponse);
    EXPECT_EQ(record.content_type, "application/http; msgtype=response");
    EXPECT_EQ(record.fields.Find("WARC-Type"), "response");
    EXPECT_EQ(record.fields.Find("WARC-Target-URI"), "http://example.org/");
    EXPECT_EQ(record.fields.Find("WARC-Date"), "2014-01-26T20:06:24Z");
    EXPECT_EQ(record.date_text, "2014-01-26T20:06:24Z");
    EXPECT_EQ(FormatIso(*record.date), "2014-01-26T20:06:24Z");
    EXPECT_EQ(record.fields.Find("WARC-IP-Address"), "192.0.2.1");
    EXPECT_EQ(record.fields.Find("Content-Type"), "application/http; msgtype=response");
    EXPECT_EQ(record.fields.Find("Content-Length"), fmt::format("{}", block.size()));
    EXPECT_EQ(record.fields.Find("ARC-Content-Type"), "text/html");
    EXPECT_EQ(record.head, file.substr(0, file.find('\n') + 1));
  });
}

TEST(ArcRecord, OtherBlocksAreResourcesOfTheirType) {
  LookAt("dns:example.org 192.0.2.1 20140126200624 text/dns 4\n2014\n",
         [](const record::Record& record) {
           EXPECT_EQ(record.type, RecordType::kResource);
           EXPECT_EQ(record.content_type, "text/dns");
         });
  LookAt("http://example.org/ 192.0.2.1 20140126200624 alexa/dat 6\n<html>\n",
         [](const record::Record& record) {
           EXPECT_EQ(record.type, RecordType::kResource);
           EXPECT_EQ(record.content_type, "alexa/dat");
         });
}

TEST(ArcRecord, Version2FieldsAreKept) {
  LookAt(
      "http://example.org/ 192.0.2.1 199701010000 text/html 302 abc http://example.org/b 209 "
      "IA.arc 3\nabc\n",
      [](const record::Record& record) {
        EXPECT_EQ(record.fields.Find("WARC-Date"), "1997-01-01T00:00:00Z");
        EXPECT_EQ(record.fields.Find("ARC-Result-Code"), "302");
        EXPECT_EQ(record.fields.Find("ARC-Checksum"), "abc");
        EXPECT_EQ(record.fields.Find("ARC-Location"), "http://example.org/b");
        EXPECT_EQ(record.fields.Find("ARC-Offset"), "209");
        EXPECT_EQ(record.fields.Find("ARC-Filename"), "IA.arc");
        EXPECT_EQ(record.content_length, 3u);
      });
}

TEST(ArcRecord, TheVersionBlockIsAWarcinfo) {
  LookAt(kVersionBlock, [](const record::Record& record) {
    EXPECT_EQ(record.type, RecordType::kWarcinfo);
    EXPECT_EQ(record.version, "1.0");
    EXPECT_EQ(record.target_uri, "");
    EXPECT_EQ(record.fields.Find("WARC-Filename"), "test.arc");
    EXPECT_EQ(record.fields.Find("ARC-Version"), "1.0");
    EXPECT_EQ(record.fields.Find("ARC-Origin"), "InternetArchive");
    EXPECT_EQ(record.fields.Find("WARC-IP-Address"), std::nullopt);
    EXPECT_EQ(record.content_length, 0u);
  });
}

// Writers disagree on what the length of the version block counts.
TEST(ArcRecord, AnyCountOfTheVersionBlockIsFine) {
  const std::string line1 = "filedesc://test.arc 0.0.0.0 20140126200624 text/plain ";
  const std::string rest =
      "1 1 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n";
  const std::string xml = "<?xml version=\"1.0\"?><arcmetadata>long enough</arcmetadata>\n";
  const std::string next = MakeRecord(1, "one") + MakeRecord(2, "two") + MakeRecord(3, "three");
  for (const std::string& content : {std::string(), xml}) {
    const std::size_t right = rest.size() + content.size();
    for (const std::size_t length : {right, right - 1, right + 1, right + line1.size() + 4}) {
      const std::string block = fmt::format("{}{}\n{}{}\n", line1, length, rest, content);
      for (const Reading& reading :
           {ReadFile(block + next),
            ReadFile(Gzip(block) + Gzip(MakeRecord(1, "one")) + Gzip(MakeRecord(2, "two")) +
                     Gzip(MakeRecord(3, "three")))}) {
        EXPECT_EQ(reading.good.size(), 4u) << length;
        EXPECT_TRUE(reading.losses.empty()) << length;
      }
    }
  }
  const std::string uncounted = line1 + "0\n" + rest + "\n";
  EXPECT_EQ(ReadFile(uncounted + next).good.size(), 4u);
  EXPECT_TRUE(ReadFile(uncounted + next).losses.empty());
}

TEST(ArcRecord, SloppyLinesAreReadWithDefects) {
  const Reading reading = ReadFile(
      "http://example.org/a b 192.0.2.1 201401262006 text/html; charset=x 1\r\nx\r\n"
      "http://example.org/ ? 20140126200624 text/html 1\nx\n"
      "http://example.org/ 192.0.2.1 20140126200624 -1\n\n");
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/a b x", "http://example.org/ x",
                                        "http://example.org/ "));
  EXPECT_THAT(reading.rules,
              ElementsAre("crlf", "space-in-url", "mime", "date", "ip", "mime", "length"));
}

// The text of a record must outlive the search that reads the heads behind it.
TEST(ArcRecord, ConvertedFieldsSurviveARecovery) {
  const std::string file = "http://example.org/1 192.0.2.1 20010101000000 text/plain 9\nxyz\n" +
                           MakeRecord(2, "two") + MakeRecord(3, "three");
  io::MemoryFileSystem fs;
  ASSERT_TRUE(io::ReplaceFile(fs, "f", file));
  io::FileSource source(*fs.OpenForReading("f"));
  RecordReader reader(*record::OpenRecordInput(source), NewGrammar());
  const record::Record* record = *reader.Next();
  ASSERT_NE(record, nullptr);
  EXPECT_TRUE(record->damaged);
  EXPECT_EQ(record->date_text, "2001-01-01T00:00:00Z");
  EXPECT_EQ(record->fields.Find("WARC-Date"), "2001-01-01T00:00:00Z");
}

TEST(ArcOddities, AnEmptyFileHasNoRecordsAndGarbageIsAllLoss) {
  EXPECT_TRUE(ReadFile("").losses.empty());
  for (const char* piece :
       {"h", "http:", "dns:a ", "dns:a 1.1.1.1 20140126200624 a/b 99999999\n"}) {
    std::string garbage = "!";
    while (garbage.size() < 200'000) garbage += piece;
    const Reading reading = ReadFile(garbage);
    EXPECT_TRUE(reading.good.empty());
    ASSERT_EQ(reading.losses.size(), 1u) << piece;
    EXPECT_EQ(reading.losses[0].end, garbage.size());
  }
}

TEST(ArcOddities, LengthsBeyondAllFilesAreWrong) {
  const std::string huge = "http://a/ 192.0.2.1 20140126200624 text/html 18446744073709551615\nx\n";
  const Reading reading = ReadFile(huge + MakeRecord(1, "one"));
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/1 one"));
  ASSERT_EQ(reading.losses.size(), 1u);
  EXPECT_THAT(reading.losses[0].reason, HasSubstr("bytes of block"));
}

}  // namespace
}  // namespace stele::arc
