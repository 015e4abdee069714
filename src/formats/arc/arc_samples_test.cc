// Files that other programs wrote.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "formats/arc/arc_grammar.h"
#include "formats/record/test_reading.h"
#include "io/posix_file_system.h"
#include "util/test_paths.h"

namespace stele::arc {
namespace {

using record::Reading;
using record::RecordReader;
using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;
using testing::StartsWith;

std::string WarcSample(std::string_view name) {
  return SamplePath(fmt::format("warc-samples/{}", name));
}

std::unique_ptr<record::Grammar> NewGrammar() { return std::make_unique<ArcGrammar>(); }

class ArcSamples : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs_.OpenForReading(WarcSample("warcio/example.arc"))) {
      GTEST_SKIP() << "no foreign sample data at " << WarcSample("");
    }
  }

  Reading ReadSample(std::string_view name) {
    io::FileSource source(*fs_.OpenForReading(WarcSample(name)));
    return ReadAll(source, NewGrammar);
  }

  io::PosixFileSystem fs_;
};

TEST_F(ArcSamples, PlainAndCompressedExamplesAreTheSame) {
  const Reading plain = ReadSample("warcio/example.arc");
  const Reading compressed = ReadSample("warcio/example.arc.gz");
  EXPECT_THAT(plain.types, ElementsAre("warcinfo", "response"));
  EXPECT_EQ(plain.good, compressed.good);
  EXPECT_TRUE(plain.losses.empty() && compressed.losses.empty());
  EXPECT_THAT(plain.good[1], StartsWith("http://example.com/ HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(plain.good[1], SizeIs(20 + 1591));
}

// Its HTTP head lost its CRs after the length was written.
TEST_F(ArcSamples, SpacesInAUrlAreKeptAndTheShortBlockIsNamed) {
  io::FileSource source(*fs_.OpenForReading(WarcSample("warcio/example-space-in-url.arc")));
  RecordReader reader(*record::OpenRecordInput(source), NewGrammar());
  ASSERT_TRUE(reader.Next());
  const record::Record* record = *reader.Next();
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->target_uri,
            "http://example.com/index.cfm?FuseAction=Email&EmailTitle=Examples From The Live "
            "Web&IsPopUp=False");
  EXPECT_EQ(record->type, record::RecordType::kResponse);
  EXPECT_TRUE(record->damaged);
  EXPECT_EQ(*reader.Next(), nullptr);
  EXPECT_THAT(reader.losses(), SizeIs(1));
}

TEST_F(ArcSamples, BadLengthsAndDatesAreReadAsFarAsTheyMakeSense) {
  const Reading reading = ReadSample("warcio/bad.arc");
  EXPECT_THAT(reading.good, ElementsAre(" ", "http://example.com/ ", "http://example.com/ \n"));
  ASSERT_THAT(reading.losses, SizeIs(1));  // "text/html abc"
}

TEST_F(ArcSamples, RecordsWithoutSeparatorsAreRead) {
  const Reading reading =
      ReadSample("webarchive-commons/IAH-20080430204825-00000-blackbook-truncated.arc");
  EXPECT_THAT(reading.good, SizeIs(9));
  EXPECT_THAT(reading.types, Contains("response").Times(7));
  EXPECT_TRUE(reading.losses.empty());
}

}  // namespace
}  // namespace stele::arc
