#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/gzip_codec.h"
#include "codec/zstd_codec.h"
#include "formats/record/test_damage.h"
#include "formats/record/test_reading.h"
#include "formats/warc/warc_grammar.h"

namespace stele::warc {
namespace {

using record::Reading;
using record::RecordReader;
using record::RecordType;
using testing::ElementsAre;
using testing::HasSubstr;

std::string MakeRecord(int number, std::string_view block) {
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://example.org/{}\r\n"
      "WARC-Date: 2014-01-26T20:06:24Z\r\nWARC-Record-ID: <urn:uuid:{}>\r\n"
      "Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{}\r\n\r\n",
      number, number, block.size(), block);
}

std::string Gzip(std::string_view bytes) { return *codec::GzipCodec().Compress(bytes, 6); }
std::string Zstd(std::string_view bytes) { return *codec::ZstdCodec().Compress(bytes, 3); }
std::string Plain(std::string_view bytes) { return std::string(bytes); }

std::unique_ptr<record::Grammar> NewGrammar() { return std::make_unique<WarcGrammar>(); }
Reading ReadFile(std::string_view bytes) { return ReadAsFile(bytes, NewGrammar); }
Reading ReadPipe(std::string_view bytes) { return ReadAsPipe(bytes, NewGrammar); }

using Packing = std::string (*)(std::string_view);

class WarcReader : public testing::TestWithParam<Packing> {
 protected:
  std::string Pack(std::string_view record) const { return GetParam()(record); }
};

std::string NameOf(const testing::TestParamInfo<Packing>& packing) {
  constexpr std::array<const char*, 3> kNames = {"Plain", "Gzip", "Zstd"};
  return kNames[packing.index];
}

INSTANTIATE_TEST_SUITE_P(Packings, WarcReader, testing::Values(&Plain, &Gzip, &Zstd), NameOf);

TEST_P(WarcReader, ReadsRecordsWithTheirExtents) {
  const std::string a = Pack(MakeRecord(1, "one"));
  const std::string b = Pack(MakeRecord(2, ""));
  const std::string c = Pack(MakeRecord(3, std::string(3'000'000, 'x')));
  for (const Reading& reading : {ReadFile(a + b + c), ReadPipe(a + b + c)}) {
    ASSERT_EQ(reading.good.size(), 3u);
    EXPECT_EQ(reading.good[0], "http://example.org/1 one");
    EXPECT_EQ(reading.good[2].size(), 3'000'000 + 21u);
    EXPECT_THAT(reading.offsets, ElementsAre(0, a.size(), a.size() + b.size()));
    EXPECT_THAT(reading.lengths, ElementsAre(a.size(), b.size(), c.size()));
    EXPECT_TRUE(reading.losses.empty());
    EXPECT_TRUE(reading.rules.empty());
  }
}

TEST_P(WarcReader, GoesToARecordByItsOffset) {
  const std::string a = Pack(MakeRecord(1, "one"));
  const std::string file = a + Pack(MakeRecord(2, "two"));
  io::MemoryFileSystem fs;
  ASSERT_TRUE(io::ReplaceFile(fs, "f", file));
  io::FileSource source(*fs.OpenForReading("f"));
  RecordReader reader(*record::OpenRecordInput(source), std::make_unique<WarcGrammar>());
  for (const std::uint64_t offset : {a.size(), std::size_t{0}, a.size()}) {
    ASSERT_TRUE(reader.SkipTo(offset));
    Result<const record::Record*> record = reader.Next();
    ASSERT_TRUE(record);
    EXPECT_EQ((*record)->record_id(), offset == 0 ? "<urn:uuid:1>" : "<urn:uuid:2>");
  }
}

record::DamageTrial MakeTrial(Packing pack) {
  std::vector<std::string> records;
  for (int i = 0; i < 4; ++i) {
    records.push_back(pack(MakeRecord(i, fmt::format("block {}\r\n\r\nof text", i))));
  }
  return record::DamageTrial(std::move(records), NewGrammar, pack == &Plain ? 0 : 4);
}

TEST_P(WarcReader, I5_AFlipAnywhereLosesNoRecordButTheOneItHits) {
  MakeTrial(GetParam()).FlipEveryBit();
}

TEST_P(WarcReader, I5_ACutAnywhereLosesNoUndamagedRecord) {
  MakeTrial(GetParam()).CutEverywhere({1, 7, 150, 400});
}

TEST_P(WarcReader, I5_ATruncatedFileKeepsAllWholeRecordsAndNamesTheLoss) {
  MakeTrial(GetParam()).Truncate(4);
}

TEST_P(WarcReader, I5_InsertedBytesLoseNoRecord) { MakeTrial(GetParam()).InsertGarbage(); }

TEST(WarcReaderOddities, OneMemberForTheWholeFileIsReadAndReported) {
  const Reading reading = ReadFile(Gzip(MakeRecord(1, "one") + MakeRecord(2, "two")));
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/1 one", "http://example.org/2 two"));
  EXPECT_THAT(reading.rules, ElementsAre("not-at-member-start"));
}

TEST(WarcReaderOddities, MembersThatCutRecordsAreJoined) {
  const std::string plain = MakeRecord(1, "one") + MakeRecord(2, "two");
  for (std::size_t cut = 9; cut < plain.size(); cut += 5) {
    const Reading reading = ReadFile(Gzip(plain.substr(0, cut)) + Gzip(plain.substr(cut)));
    EXPECT_THAT(reading.good, ElementsAre("http://example.org/1 one", "http://example.org/2 two"))
        << cut;
  }
}

TEST(WarcReaderOddities, LengthsThatLieInAMemberAreDefects) {
  std::string longer = MakeRecord(1, "one");
  longer.replace(longer.find("Length: 3"), 9, "Length: 9");
  Reading reading = ReadFile(Gzip(longer) + Gzip(MakeRecord(2, "two")));
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/2 two"));
  EXPECT_THAT(reading.rules, ElementsAre("length-too-large"));
  std::string shorter = MakeRecord(1, "one");
  shorter.replace(shorter.find("Length: 3"), 9, "Length: 1");
  reading = ReadFile(Gzip(shorter) + Gzip(MakeRecord(2, "two")));
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/2 two"));
  EXPECT_THAT(reading.rules, testing::Contains("length-too-small"));
}

TEST(WarcReaderOddities, OldAndSloppyHeadsAreRead) {
  const std::string file =
      "WARC/0.18\nwarc-type: RESOURCE\nWARC-Target-URI : <http://example.org/a b>\n"
      "WARC-Date: 20090301084319\nno colon here\nX-Folded: one\n two\n"
      "Content-Length: 2\n\nab\n\n";
  io::MemorySource source(file);
  RecordReader reader(*record::OpenRecordInput(source), std::make_unique<WarcGrammar>());
  const record::Record* record = *reader.Next();
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->version, "0.18");
  EXPECT_EQ(record->type, RecordType::kResource);
  EXPECT_EQ(record->target_uri, "http://example.org/a b");
  EXPECT_EQ(FormatIso(*record->date), "2009-03-01T08:43:19Z");
  EXPECT_EQ(record->fields.Find("x-folded"), "one\n two");
  ASSERT_TRUE(reader.Finish());
  std::vector<std::string_view> rules;
  for (const record::Defect& defect : reader.defects()) rules.push_back(defect.rule);
  EXPECT_THAT(rules, testing::IsSupersetOf({"line-end", "no-colon", "folded-field", "field-name",
                                            "target-uri-brackets", "date", "separator"}));
}

TEST(WarcReaderOddities, ADictionaryOpensAWarcZst) {
  const std::string dictionary = MakeRecord(0, std::string(200, 'd'));
  auto codec = codec::ZstdCodec::WithDictionary(dictionary);
  ASSERT_TRUE(codec);
  std::string file = "\x5d\x2a\x4d\x18";
  for (int i = 0; i < 4; ++i) file += static_cast<char>(dictionary.size() >> (8 * i));
  file += dictionary;
  const std::size_t first = file.size();
  file += *(*codec)->Compress(MakeRecord(1, "one"), 3);
  file += *(*codec)->Compress(MakeRecord(2, "two"), 3);
  const Reading reading = ReadFile(file);
  EXPECT_THAT(reading.good, ElementsAre("http://example.org/1 one", "http://example.org/2 two"));
  EXPECT_EQ(reading.offsets[0], first);
}

TEST(WarcReaderOddities, AnEmptyFileHasNoRecordsAndGarbageIsAllLoss) {
  EXPECT_TRUE(ReadFile("").losses.empty());
  const Reading reading = ReadFile(std::string(100'000, 'W'));
  EXPECT_TRUE(reading.good.empty());
  ASSERT_EQ(reading.losses.size(), 1u);
  EXPECT_EQ(reading.losses[0].end, 100'000u);
}

TEST(WarcReaderOddities, AHeadWithoutEndIsGivenUpInBoundedMemory) {
  const std::string endless = "WARC/1.0\r\nX: " + std::string(3'000'000, 'x');
  for (const std::string& file : {endless, Gzip(endless)}) {
    const Reading reading = ReadFile(file);
    ASSERT_EQ(reading.losses.size(), 1u);
    EXPECT_THAT(reading.losses[0].reason, HasSubstr("more than"));
  }
}

TEST(WarcReaderOddities, PipesRecoverToo) {
  const std::string a = MakeRecord(1, "one");
  std::string broken = MakeRecord(2, "two");
  broken[0] = 'X';
  const std::string c = MakeRecord(3, "three");
  EXPECT_THAT(ReadPipe(a + broken + c).good,
              ElementsAre("http://example.org/1 one", "http://example.org/3 three"));
  std::string member = Gzip(broken);
  member[20] = static_cast<char>(member[20] ^ 1);
  EXPECT_THAT(ReadPipe(Gzip(a) + member + Gzip(c)).good,
              ElementsAre("http://example.org/1 one", "http://example.org/3 three"));
}

}  // namespace
}  // namespace stele::warc
