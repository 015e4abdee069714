#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/deflate_codec.h"
#include "codec/gzip_codec.h"
#include "formats/record/test_damage.h"
#include "formats/record/test_reading.h"
#include "formats/tianwang/tianwang_grammar.h"

namespace stele::tianwang {
namespace {

using record::Reading;
using record::RecordReader;
using record::RecordType;
using testing::ElementsAre;
using testing::HasSubstr;

std::string MakeRecord(int number, std::string_view data) {
  return fmt::format(
      "version: 1.0\nurl: http://example.org/{}\ndate: Tue, 15 Apr 2003 08:13:06 GMT\n"
      "ip: 192.0.2.1\nlength: {}\n\n{}\n",
      number, data.size(), data);
}

std::string MakeCompressed(int number, std::string_view stored, std::string_view unzip_length) {
  return fmt::format(
      "version: 1.0\nurl: http://example.org/{}\ndate: Tue, 15 Apr 2003 08:13:06 GMT\n"
      "unzip-length: {}\nlength: {}\n\n{}\n",
      number, unzip_length, stored.size(), stored);
}

std::string Deflate(std::string_view bytes) { return *codec::DeflateCodec().Compress(bytes, 6); }
std::string Gzip(std::string_view bytes) { return *codec::GzipCodec().Compress(bytes, 6); }

std::unique_ptr<record::Grammar> NewGrammar() { return std::make_unique<TianwangGrammar>(); }
Reading ReadFile(std::string_view bytes) { return ReadAsFile(bytes, NewGrammar); }
Reading ReadPipe(std::string_view bytes) { return ReadAsPipe(bytes, NewGrammar); }

// Gives the first record of a file to `look`.
void LookAt(std::string_view file, const std::function<void(const record::Record&)>& look) {
  io::MemorySource source(file);
  RecordReader reader(*record::OpenRecordInput(source), NewGrammar());
  Result<const record::Record*> record = reader.Next();
  ASSERT_TRUE(record.ok() && *record != nullptr);
  look(**record);
}

TEST(TianwangReader, I4_Rule1_RecordsFollowEachOtherWithoutDelimiters) {
  const std::string a = MakeRecord(1, "one");
  const std::string b = MakeRecord(2, "");
  const std::string c = MakeRecord(3, std::string(3'000'000, 'x'));
  for (const Reading& reading : {ReadFile(a + b + c), ReadPipe(a + b + c)}) {
    ASSERT_EQ(reading.good.size(), 3u);
    EXPECT_EQ(reading.good[0], "http://example.org/1 one");
    EXPECT_EQ(reading.good[1], "http://example.org/2 ");
    EXPECT_EQ(reading.good[2].size(), 3'000'000 + 21u);
    EXPECT_THAT(reading.offsets, ElementsAre(0, a.size(), a.size() + b.size()));
    EXPECT_THAT(reading.lengths, ElementsAre(a.size(), b.size(), c.size()));
    EXPECT_TRUE(reading.losses.empty());
    EXPECT_TRUE(reading.rules.empty());
  }
}

TEST(TianwangReader, I4_Rule2_ARecordIsHeadBlankLineDataAndLineFeed) {
  // The data may hold anything, also blank lines and line feeds at its end.
  const std::string data = "\n\nversion: 1.0\nlength: 3\n\nabc\n\n\n";
  const Reading reading = ReadFile(MakeRecord(1, data) + MakeRecord(2, "two"));
  EXPECT_THAT(reading.good,
              ElementsAre("http://example.org/1 " + data, "http://example.org/2 two"));
  EXPECT_TRUE(reading.rules.empty());
  std::string without = MakeRecord(1, "one");
  without.pop_back();
  EXPECT_THAT(ReadFile(without + MakeRecord(2, "two")).rules, ElementsAre("separator"));
}

TEST(TianwangReader, I4_Rule3_ABlankLineEndsTheHead) {
  const std::string blank =
      "version: 1.0\nurl: http://example.org/1\n\ndate: Tue, 15 Apr 2003 08:13:06 GMT\n"
      "length: 3\n\none\n";
  const Reading reading = ReadFile(blank + MakeRecord(2, "two"));
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/2 two"));
  ASSERT_EQ(reading.losses.size(), 1u);
  EXPECT_THAT(reading.losses[0].reason, HasSubstr("no length"));
}

TEST(TianwangReader, I4_Rule4_AnAttributeIsNameColonValue) {
  const std::string line =
      "version: 1.0\nurl: http://example.org/1\nno attribute\n"
      "date: Tue, 15 Apr 2003 08:13:06 GMT\nlength: 3\n\none\n";
  Reading reading = ReadFile(line + MakeRecord(2, "two"));
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/2 two"));
  ASSERT_EQ(reading.losses.size(), 1u);
  EXPECT_THAT(reading.losses[0].reason, HasSubstr("no attribute"));
  std::string tight = MakeRecord(1, "one");
  tight.replace(tight.find("url: "), 5, "url:");
  EXPECT_THAT(ReadFile(tight).good, ElementsAre("http://example.org/1 one"));
}

TEST(TianwangReader, I4_Rule5_TheFirstAttributeIsTheVersion) {
  const std::string swapped =
      "url: http://example.org/1\nversion: 1.0\ndate: Tue, 15 Apr 2003 08:13:06 GMT\n"
      "length: 3\n\none\n";
  EXPECT_THAT(ReadFile(swapped + MakeRecord(2, "two")).good,
              ElementsAre("http://example.org/2 two"));
  std::string newer = MakeRecord(1, "one");
  newer.replace(newer.find("1.0"), 3, "1.1");
  const Reading reading = ReadFile(newer);
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/1 one"));
  EXPECT_THAT(reading.rules, ElementsAre("version"));
}

TEST(TianwangReader, I4_Rule6_TheLastAttributeIsTheLength) {
  const std::string early =
      "version: 1.0\nurl: http://example.org/1\nlength: 3\n"
      "date: Tue, 15 Apr 2003 08:13:06 GMT\n\none\n";
  const Reading reading = ReadFile(early);
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/1 one"));
  EXPECT_THAT(reading.rules, ElementsAre("length-last"));
}

TEST(TianwangReader, I4_Rule7_NamesAreInLowercase) {
  std::string upper = MakeRecord(1, "one");
  upper.replace(upper.find("url"), 3, "URL");
  upper.replace(upper.find("version"), 7, "Version");
  const Reading reading = ReadFile(upper);
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/1 one"));
  EXPECT_THAT(reading.rules, ElementsAre("name-case", "name-case"));
}

TEST(TianwangReader, I4_AllAttributesAreInTheRecord) {
  const std::string file =
      "version: 1.0\nurl: http://www.pku.edu.cn/\norigin: http://www.somewhere.cn/\n"
      "date: Tue, 15 Apr 2003 08:13:06 GMT\nip: 162.105.129.12\nlength: 20\n\n"
      "HTTP/1.0 200 OK\r\n\r\nx\n";
  LookAt(file, [&](const record::Record& record) {
    EXPECT_EQ(record.format, record::Format::kTianwang);
    EXPECT_EQ(record.version, "1.0");
    EXPECT_EQ(record.type, RecordType::kResponse);
    EXPECT_EQ(record.content_type, "application/http; msgtype=response");
    EXPECT_EQ(record.target_uri, "http://www.pku.edu.cn/");
    EXPECT_EQ(record.date_text, "2003-04-15T08:13:06Z");
    EXPECT_EQ(record.content_length, 20u);
    EXPECT_EQ(record.head, file.substr(0, file.size() - 21));
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
             {"version", "1.0"},
             {"url", "http://www.pku.edu.cn/"},
             {"origin", "http://www.somewhere.cn/"},
             {"date", "Tue, 15 Apr 2003 08:13:06 GMT"},
             {"ip", "162.105.129.12"},
             {"length", "20"},
             {"WARC-Type", "response"},
             {"WARC-Target-URI", "http://www.pku.edu.cn/"},
             {"WARC-Date", "2003-04-15T08:13:06Z"},
             {"WARC-IP-Address", "162.105.129.12"},
             {"Tianwang-Origin", "http://www.somewhere.cn/"},
             {"Content-Type", "application/http; msgtype=response"},
             {"Content-Length", "20"}}) {
      EXPECT_EQ(record.fields.Find(name), value) << name;
    }
  });
}

TEST(TianwangReader, I4_APageWithoutHttpHeadIsAResource) {
  LookAt(MakeRecord(1, "<html>"), [](const record::Record& record) {
    EXPECT_EQ(record.type, RecordType::kResource);
    EXPECT_EQ(record.content_type, "");
    EXPECT_EQ(record.fields.Find("Content-Type"), std::nullopt);
  });
}

TEST(TianwangReader, I4_CompressedDataIsReadDecompressed) {
  std::string page = "HTTP/1.0 200 OK\r\n\r\n";
  for (int i = 0; i < 20'000; ++i) page += fmt::format("line {}\n", i * i);
  const std::string size = fmt::format("{}", page.size());
  const Reading reading =
      ReadFile(MakeCompressed(1, Deflate(page), size) + MakeCompressed(2, Gzip(page), size) +
               MakeCompressed(3, Deflate("<p>"), "3") + MakeCompressed(4, Deflate("<p>"), ""));
  EXPECT_THAT(reading.good,
              ElementsAre("http://example.org/1 " + page, "http://example.org/2 " + page,
                          "http://example.org/3 <p>", "http://example.org/4 <p>"));
  EXPECT_THAT(reading.types, ElementsAre("response", "response", "resource", "resource"));
  EXPECT_THAT(reading.rules, ElementsAre("unzip-length"));
  EXPECT_TRUE(ReadFile(MakeCompressed(1, Deflate("<p>"), "4")).good.empty());
}

TEST(TianwangReader, ToleratesCarriageReturnsAndUnknownAttributes) {
  const Reading reading = ReadFile(
      "version: 1.0\r\nurl: http://example.org/\r\nx-mood: good\r\nip: 1\r\nip: 2\r\n"
      "date: yesterday\r\nlength: 2\r\n\r\nab\r\n");
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/ ab"));
  EXPECT_THAT(reading.rules,
              ElementsAre("unknown-attribute", "repeated", "date", "crlf", "separator"));
  EXPECT_THAT(ReadFile("version: 1.0\nurl: a\nlength: 0\n\n\n").rules, ElementsAre("date"));
  EXPECT_THAT(ReadFile("version: 1.0\nlength: 0\n\n\n").losses[0].reason, HasSubstr("no url"));
}

// Five records, one of them compressed.
record::DamageTrial MakeTrial() {
  std::vector<std::string> records;
  for (int i = 0; i < 5; ++i) {
    const std::string data = fmt::format("HTTP/1.0 200 OK\r\n\r\ndata {}\n\nversion: of", i);
    records.push_back(i == 2 ? MakeCompressed(i, Deflate(data), fmt::format("{}", data.size()))
                             : MakeRecord(i, data));
  }
  return record::DamageTrial(std::move(records), NewGrammar, 0);
}

TEST(TianwangRecovery, I5_AFlipAnywhereLosesNoRecordButTheOneItHits) { MakeTrial().FlipEveryBit(); }

TEST(TianwangRecovery, I5_ACutAnywhereLosesNoUndamagedRecord) {
  MakeTrial().CutEverywhere({1, 2, 7, 60, 150, 400});
}

TEST(TianwangRecovery, I5_ATruncatedFileKeepsAllWholeRecordsAndNamesTheLoss) {
  MakeTrial().Truncate(1);
}

TEST(TianwangRecovery, I5_InsertedBytesLoseNoRecord) { MakeTrial().InsertGarbage(); }

TEST(TianwangRecovery, I5_ThreeRecordsInARowAreBelieved) {
  for (int good = 1; good <= 4; ++good) {
    std::string run;
    for (int i = 0; i < good; ++i) run += MakeRecord(i, "text");
    // The file does not end well, so only the rule of three helps.
    const Reading reading = ReadFile("garbage\n" + run + "!garbage");
    EXPECT_EQ(reading.good.size(), good < 3 ? 0u : static_cast<std::size_t>(good)) << good;
  }
}

TEST(TianwangRecovery, I5_ARecordInsideDamagedDataIsNotBelieved) {
  std::string outer = MakeRecord(1, "see\n" + MakeRecord(9, "inner") + "there");
  outer[0] = 'V' ^ 1;
  const Reading reading = ReadFile(outer + MakeRecord(2, "two") + MakeRecord(3, "three"));
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/2 two", "http://example.org/3 three"));
}

TEST(TianwangRecovery, I5_PipesRecoverToo) {
  std::string broken = MakeRecord(2, "two");
  broken[0] = 'X';
  EXPECT_THAT(ReadPipe(MakeRecord(1, "one") + broken + MakeRecord(3, "three")).good,
              ElementsAre("http://example.org/1 one", "http://example.org/3 three"));
}

TEST(TianwangRecovery, GarbageIsAllLoss) {
  EXPECT_TRUE(ReadFile("").losses.empty());
  for (const char* piece :
       {"v", "version: ", "version: 1.0\n", "version: 1.0\nurl: a\nlength: 99999999\n\n"}) {
    std::string garbage = "!";
    while (garbage.size() < 200'000) garbage += piece;
    const Reading reading = ReadFile(garbage);
    EXPECT_TRUE(reading.good.empty());
    ASSERT_EQ(reading.losses.size(), 1u) << piece;
    EXPECT_EQ(reading.losses[0].end, garbage.size());
  }
}

}  // namespace
}  // namespace stele::tianwang
