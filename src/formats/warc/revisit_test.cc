#include "formats/warc/revisit.h"

#include <gtest/gtest.h>

#include "formats/record/record_reader.h"
#include "formats/warc/rules.h"
#include "formats/warc/truncation.h"
#include "formats/warc/warc_grammar.h"
#include "formats/warc/warc_writer.h"

namespace stele::warc {
namespace {

const RevisitTarget kTarget = {"http://example.org/a", "2014-01-26T20:06:24Z", "<urn:uuid:1>"};

FieldList Fields() {
  FieldList fields;
  fields.Add("WARC-Type", "revisit");
  fields.Add("WARC-Record-ID", "<urn:uuid:2>");
  fields.Add("WARC-Date", "2015-01-26T20:06:24Z");
  fields.Add("WARC-Target-URI", "http://example.org/a");
  fields.Add("WARC-Payload-Digest", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
  fields.Add("Content-Type", "application/http;msgtype=response");
  return fields;
}

// Writes one record, reads it, and looks at it.
void RoundTrip(const FieldList& fields, const std::function<void(const record::Record&)>& look) {
  io::StringSink sink;
  auto writer = WarcWriter::Create(sink, {});
  ASSERT_TRUE((*writer)->Write(fields, "HTTP/1.1 304 Not Modified\r\n\r\n"));
  io::MemorySource source(sink.content());
  record::RecordReader reader(*record::OpenRecordInput(source), std::make_unique<WarcGrammar>());
  const Result<const record::Record*> record = reader.Next();
  ASSERT_TRUE(record);
  ASSERT_NE(*record, nullptr);
  look(**record);
}

TEST(Revisit, BothProfilesRoundTripWithTheirTarget) {
  for (const auto profile :
       {RevisitProfile::kIdenticalPayload, RevisitProfile::kServerNotModified}) {
    FieldList fields = Fields();
    AddRevisitFields(profile, kTarget, fields);
    RoundTrip(fields, [&](const record::Record& record) {
      EXPECT_EQ(RevisitProfileOf(record), profile);
      const RevisitTarget target = RevisitTargetOf(record);
      EXPECT_EQ(target.uri, kTarget.uri);
      EXPECT_EQ(target.date, kTarget.date);
      EXPECT_EQ(target.record_id, kTarget.record_id);
      std::vector<record::Defect> defects;
      CheckHead(record, defects);
      EXPECT_TRUE(defects.empty());
    });
  }
}

TEST(Revisit, ProfilesOfEveryStandardAreKnownAndOthersAreNotInterpreted) {
  const std::vector<std::pair<const char*, RevisitProfile>> cases = {
      {"http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",
       RevisitProfile::kIdenticalPayload},
      {"http://netpreserve.org/warc/0.18/revisit/server-not-modified",
       RevisitProfile::kServerNotModified},
      {"http://example.org/revisit/delta", RevisitProfile::kOther}};
  for (const auto& [uri, profile] : cases) {
    FieldList fields = Fields();
    fields.Add("WARC-Profile", uri);
    RoundTrip(fields, [&, expected = profile](const record::Record& record) {
      EXPECT_EQ(RevisitProfileOf(record), expected) << uri;
    });
  }
  RoundTrip(Fields(), [](const record::Record& record) {
    EXPECT_EQ(RevisitProfileOf(record), RevisitProfile::kNone);
  });
}

TEST(Truncation, EveryReasonRoundTrips) {
  for (const auto reason : {Truncation::kLength, Truncation::kTime, Truncation::kDisconnect,
                            Truncation::kUnspecified, Truncation::kHead}) {
    FieldList fields = Fields();
    fields.Add("WARC-Truncated", TruncationName(reason));
    RoundTrip(fields,
              [&](const record::Record& record) { EXPECT_EQ(TruncationOf(record), reason); });
  }
  FieldList fields = Fields();
  RoundTrip(fields, [](const record::Record& record) {
    EXPECT_EQ(TruncationOf(record), Truncation::kNone);
  });
  fields.Add("WARC-Truncated", "boredom");
  RoundTrip(fields, [](const record::Record& record) {
    EXPECT_EQ(TruncationOf(record), Truncation::kOther);
  });
}

}  // namespace
}  // namespace stele::warc
