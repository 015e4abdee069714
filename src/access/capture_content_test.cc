#include "access/capture_content.h"

#include "access/test_access.h"
#include "archive/test_segments.h"

namespace stele::access {
namespace {

using archive::testing::FirstSegment;
using archive::testing::kSegmentedDate;
using archive::testing::kSegmentedPayload;
using archive::testing::PayloadClaim;
using archive::testing::SecondSegment;
using archive::testing::ThirdSegment;
using testing::Answer;
using testing::Serving;
using testing::WarcText;

constexpr const char* kSegmented = "/web/20040530010203id_/http://a.example/";

// A record that was cut into segments.
class SegmentedContent : public Serving {
 protected:
  static WarcText Revisit() {
    WarcText warc;
    warc.Revisit("http://b.example/", "2005-01-01T00:00:00Z", kSegmentedPayload,
                 "http://a.example/", kSegmentedDate);
    return warc;
  }
};

TEST_F(SegmentedContent, W15_AllSegmentsAreSentAlsoForRevisits) {
  for (const std::string& file : {ThirdSegment(), FirstSegment(), SecondSegment()}) Bring(file);
  Bring(Revisit());
  Serve();
  for (const std::string target : {kSegmented, "/web/20050101000000id_/http://b.example/"}) {
    SCOPED_TRACE(target);
    // Asked again, it comes from memory.
    for (int i = 0; i < 2; ++i) {
      const Answer answer = Get(target);
      EXPECT_EQ(answer.status, 200);
      EXPECT_EQ(answer.body, kSegmentedPayload);
      EXPECT_EQ(answer.Header("Content-Length"), "13");
    }
    const Answer part = Get(target, "Range: bytes=2-6\r\n");
    EXPECT_EQ(part.body, "e two");
    EXPECT_EQ(part.Header("Content-Range"), "bytes 2-6/13");
  }
  EXPECT_NE(GetReplay("/web/20040530010203rp_/http://a.example/").body.find("one two three"),
            std::string::npos);
}

// It is sent while it is read.
TEST_F(SegmentedContent, W15_LongSegmentsAreSentWhole) {
  const std::string second(std::size_t{300} << 10, 'x');
  const std::string payload = "one " + second + "three";
  Bring(FirstSegment(PayloadClaim(payload)));
  Bring(SecondSegment(second) + ThirdSegment("three", second.size() + 53));
  Serve();
  EXPECT_EQ(Get(kSegmented).body, payload);
  const Answer part = Get(kSegmented, "Range: bytes=-6\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "xthree");
}

TEST_F(SegmentedContent, W15_WhatLacksSegmentsIsShownAsFarAsItGoes) {
  Bring(FirstSegment() + ThirdSegment());
  Serve();
  EXPECT_EQ(Get(kSegmented).body, "one ");
  EXPECT_NE(Get("/api/v1/captures?url=http://a.example/").body.find("\"truncated\": true"),
            std::string::npos);
}

TEST_F(SegmentedContent, W15_WhatIsNotWhatItsFirstSegmentClaimsIsAnError) {
  Bring(FirstSegment(PayloadClaim("one two four!")) + SecondSegment() + ThirdSegment());
  Serve();
  const Answer answer = Get(kSegmented);
  EXPECT_EQ(answer.status, 502);
  EXPECT_EQ(answer.body.find("three"), std::string::npos);
}

TEST_F(SegmentedContent, I7_NothingIsShownOfWhatWasTakenDown) {
  for (const std::string& file : {ThirdSegment(), FirstSegment(), SecondSegment()}) Bring(file);
  ASSERT_TRUE(archive_->Remove({{200405, 0}}, "because", ""));
  Bring(Revisit());
  Serve();
  for (const std::string target : {kSegmented, "/web/20050101000000id_/http://b.example/"}) {
    const Answer answer = Get(target);
    EXPECT_EQ(answer.status, 404) << target;
    EXPECT_EQ(answer.body.find("three"), std::string::npos) << answer.body;
  }
}

}  // namespace
}  // namespace stele::access
