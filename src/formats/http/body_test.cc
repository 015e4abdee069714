#include "formats/http/body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/http/media_type.h"

namespace stele::http {
namespace {

BodyPlan PlanOf(std::string_view fields, std::string_view method = "GET", int status = 200) {
  const std::string bytes =
      "HTTP/1.1 " + std::to_string(status) + " X\r\n" + std::string(fields) + "\r\n";
  return PlanResponseBody(*ParseResponseHead(bytes), method);
}

TEST(BodyPlan, FollowsTheStandard) {
  EXPECT_EQ(PlanOf("").framing, BodyFraming::kUntilClose);
  EXPECT_EQ(PlanOf("Content-Length: 12\r\n").framing, BodyFraming::kLength);
  EXPECT_EQ(PlanOf("Content-Length: 12\r\n").length, 12u);
  EXPECT_EQ(PlanOf("Transfer-Encoding: Chunked\r\n").framing, BodyFraming::kChunked);
  EXPECT_EQ(PlanOf("Transfer-Encoding: identity\r\nContent-Length: 1\r\n").framing,
            BodyFraming::kLength);
  EXPECT_EQ(PlanOf("Content-Length: 12\r\n", "HEAD").framing, BodyFraming::kNone);
  EXPECT_EQ(PlanOf("", "CONNECT").framing, BodyFraming::kNone);
  EXPECT_EQ(PlanOf("", "CONNECT", 500).framing, BodyFraming::kUntilClose);
  for (const int status : {101, 204, 304}) {
    EXPECT_EQ(PlanOf("Content-Length: 5\r\n", "GET", status).framing, BodyFraming::kNone);
  }
  EXPECT_EQ(PlanRequestBody(*ParseRequestHead("GET / HTTP/1.1\r\n\r\n")).framing,
            BodyFraming::kNone);
  EXPECT_EQ(
      PlanRequestBody(*ParseRequestHead("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n")).length,
      3u);
}

TEST(BodyPlan, ConflictsAreDecidedAndTold) {
  struct Case {
    const char* fields;
    BodyFraming framing;
    const char* defects;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", BodyFraming::kChunked,
            "length-and-chunked"},
           {"Content-Length: 5\r\nContent-Length: 5\r\n", BodyFraming::kLength, "length-repeated"},
           {"Content-Length: 5, 5\r\n", BodyFraming::kLength, "length-repeated"},
           {"Content-Length: 5\r\nContent-Length: 6\r\n", BodyFraming::kUntilClose,
            "lengths-differ"},
           {"Content-Length: -5\r\n", BodyFraming::kUntilClose, "length-invalid"},
           {"Content-Length: 5x\r\n", BodyFraming::kUntilClose, "length-invalid"},
           {"Content-Length:\r\n", BodyFraming::kUntilClose, "length-invalid"},
           {"Content-Length: 99999999999999999999\r\n", BodyFraming::kUntilClose, "length-invalid"},
           {"Transfer-Encoding: chunked, gzip\r\n", BodyFraming::kUntilClose,
            "chunked-not-last,other-transfer-coding"},
           {"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", BodyFraming::kChunked,
            "other-transfer-coding"},
           {"Transfer-Encoding: chunked, chunked\r\n", BodyFraming::kChunked,
            "chunked-not-last"}}) {
    EXPECT_EQ(PlanOf(c.fields).framing, c.framing) << c.fields;
    EXPECT_EQ(PlanOf(c.fields).defects.ToText(), c.defects) << c.fields;
  }
}

TEST(BodyPlan, InAStoredRecordTheLengthDoesNotCut) {
  const auto plan = [](std::string_view fields) {
    return PlanStoredBody(
               ParseResponseHead("HTTP/1.1 200 X\r\n" + std::string(fields) + "\r\n")->headers)
        .framing;
  };
  EXPECT_EQ(plan("Content-Length: 5\r\n"), BodyFraming::kUntilClose);
  EXPECT_EQ(plan("Transfer-Encoding: chunked\r\n"), BodyFraming::kChunked);
}

struct Decoded {
  std::string payload;
  std::string defects;
  std::string trailers;
  std::size_t consumed = 0;
  bool done = false;
};

Decoded DecodeIn(const BodyPlan& plan, std::string_view body, std::size_t step_size) {
  TransferDecoder decoder(plan);
  Decoded result;
  while (result.consumed < body.size() && !result.done) {
    const auto step = decoder.Decode(body.substr(result.consumed, step_size));
    EXPECT_TRUE(step.consumed > 0 || !step.payload.empty() || step.done);
    result.payload += step.payload;
    result.consumed += step.consumed;
    result.done = step.done;
  }
  result.payload += decoder.Finish();
  result.defects = decoder.defects().ToText();
  result.trailers = decoder.trailers();
  return result;
}

// In pieces of every size, and as a whole; all must agree.
Decoded Chunked(std::string_view body) {
  const BodyPlan plan{BodyFraming::kChunked, 0, {}};
  const Decoded whole = DecodeIn(plan, body, body.size() + 1);
  for (std::size_t step = 1; step < std::min<std::size_t>(body.size(), 40); ++step) {
    const Decoded pieces = DecodeIn(plan, body, step);
    EXPECT_EQ(pieces.payload, whole.payload) << body;
    EXPECT_EQ(pieces.defects, whole.defects) << body;
    EXPECT_EQ(pieces.trailers, whole.trailers) << body;
    EXPECT_EQ(pieces.consumed, whole.consumed) << body;
  }
  Payload payload;
  DecodeTransfer(plan, body, payload);
  EXPECT_EQ(payload.bytes, whole.payload);
  EXPECT_EQ(payload.defects.ToText(), whole.defects);
  return whole;
}

TEST(TransferDecoder, JoinsChunks) {
  const Decoded got = Chunked("4\r\nWiki\r\n6\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\n\r\n");
  EXPECT_EQ(got.payload, "Wikipedia in \r\n\r\nchunks.");
  EXPECT_EQ(got.defects, "");
  EXPECT_TRUE(got.done);
}

TEST(TransferDecoder, EveryOddFramingIsReadAndNamed) {
  struct Case {
    const char* body;
    const char* payload;
    const char* defects;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"0\r\n\r\n", "", ""},
           {"003;a=b;c=\"d\"\r\nabc\r\n0;x\r\n\r\n", "abc", ""},
           {"3 \r\nabc\r\n0 \r\n\r\n", "abc", "space-in-chunk-size"},
           {" 3\r\nabc\r\n0\r\n\r\n", "abc", "space-in-chunk-size"},
           {"3  \r \r\nabc\r\n0\r\n\r\n", "abc", "space-in-chunk-size"},
           {"3\r\r\nabc\r\n0\r\n\r\n", "abc", "space-in-chunk-size"},
           {"3\r\nabc\n2\nde\r\n0\n\n", "abcde", "chunk-line-feed"},
           {"3\r\nabc2\r\nde\r\n0\r\n\r\n", "abcde", "missing-chunk-end"},
           {"3\r\nabc\r2\r\nde\r\n0\r\n\r\n", "abcde", "missing-chunk-end"},
           {"3\r\nabc\r\nzz\r\nrest", "abczz\r\nrest", "bad-chunk-size"},
           {"3\r\nabc\r\n4x\r\nrest", "abc4x\r\nrest", "bad-chunk-size"},
           {"3\r\nabcxyz\r\n0\r\n\r\n", "abcxyz\r\n0\r\n\r\n", "bad-chunk-size,missing-chunk-end"},
           {"3\r\nabc\r\n7fffffffffffffffff\r\nx", "abc7fffffffffffffffff\r\nx", "bad-chunk-size"},
           {"3\r\nabc\r\n", "abc", "no-final-chunk"},
           {"3\r\nabc\r\n2", "abc", "no-final-chunk"},
           {"3\r\nab", "ab", "no-final-chunk"},
           {"3\r\nabc\r\n0", "abc", "no-final-chunk"},
           {"3\r\nabc\r\n0\r\n", "abc", "no-final-line"},
           {"3\r\nabc\r\n0\r\nX: 1\r\n", "abc", "no-final-line"},
           {"3\r\nabc\r\n0\r\nwhat\r\n\r\n", "abc", "bad-trailer"},
           {"", "", "no-final-chunk"}}) {
    const Decoded got = Chunked(c.body);
    EXPECT_EQ(got.payload, c.payload) << c.body;
    EXPECT_EQ(got.defects, c.defects) << c.body;
  }
}

TEST(TransferDecoder, ABodyThatIsNotChunkedIsPassedAsItIs) {
  for (const std::string& body :
       {std::string("<html>already joined</html>"), std::string("beef"), std::string("1\n2\n3\n"),
        std::string("dead beef\r\n"), std::string("\r\n3\r\nabc"),
        std::string("\x1f\x8b\x08\0\0", 5), std::string("12;") + std::string(5000, 'x') + "\r\n"}) {
    const Decoded got = Chunked(body);
    EXPECT_EQ(got.payload, body);
    EXPECT_EQ(got.defects, "not-chunked");
  }
}

TEST(TransferDecoder, TrailersAreKeptAndBytesAfterTheEndAreNotTaken) {
  const Decoded got = Chunked("1\r\na\r\n0\r\nX: 1\r\nY: 2\r\n\r\nHTTP/1.1 200");
  EXPECT_EQ(got.payload, "a");
  EXPECT_EQ(got.trailers, "X: 1\r\nY: 2\r\n");
  EXPECT_EQ(got.consumed, 23u);
  EXPECT_TRUE(got.done);
  const Decoded endless = Chunked("0\r\n" + std::string(100000, 'a'));
  EXPECT_EQ(endless.defects, "bad-trailer");
  EXPECT_LE(endless.trailers.size(), 65536u);
}

TEST(TransferDecoder, LengthCutsAndShortBodiesAreTold) {
  const BodyPlan five{BodyFraming::kLength, 5, {}};
  for (const std::size_t step : {1, 3, 100}) {
    const Decoded more = DecodeIn(five, "abcdefg", step);
    EXPECT_EQ(more.payload, "abcde");
    EXPECT_EQ(more.consumed, 5u);
    EXPECT_EQ(more.defects, "");
    EXPECT_EQ(DecodeIn(five, "abc", step).defects, "short-body");
  }
  EXPECT_TRUE(TransferDecoder({BodyFraming::kNone, 0, {}}).Decode("x").done);
  EXPECT_TRUE(TransferDecoder({BodyFraming::kLength, 0, {}}).Decode("x").done);
  EXPECT_EQ(DecodeIn({BodyFraming::kUntilClose, 0, {}}, "abc", 2).payload, "abc");
}

TEST(TransferDecoder, AWholePayloadInOnePieceIsNotCopied) {
  const std::string chunked = "3\r\nabc\r\n0\r\n\r\n";
  Payload payload;
  DecodeTransfer({BodyFraming::kChunked, 0, {}}, chunked, payload);
  EXPECT_EQ(payload.bytes, "abc");
  EXPECT_EQ(payload.bytes.data(), chunked.data() + 3);
  DecodeTransfer({BodyFraming::kUntilClose, 0, {}}, chunked, payload);
  EXPECT_EQ(payload.bytes.data(), chunked.data());
}

TEST(MediaType, IsReadLeniently) {
  struct Case {
    const char* value;
    const char* type;
    const char* charset;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"text/html", "text/html", ""},
           {"Text/HTML; charset=UTF-8", "text/html", "utf-8"},
           {"text/html;charset=\"iso-8859-1\"", "text/html", "iso-8859-1"},
           {"text/html; charset='x y'", "text/html", "x y"},
           {"text/html; charset=\"utf-8", "text/html", "utf-8"},
           {" text / html ; x=y ; Charset = utf-8 ; z", "text/html", "utf-8"},
           {"text/html charset=big5", "text/html", "big5"},
           {"text/html, text/html; charset=euc-jp", "text/html", "euc-jp"},
           {"text/html; charset: koi8-r", "text/html", "koi8-r"},
           {"text/html; charset=utf-8; charset=latin1", "text/html", "utf-8"},
           {"text/html; charset=; charset=latin1", "text/html", "latin1"},
           {"text/html; mycharset=a", "text/html", ""},
           {"text/html; charset", "text/html", ""},
           {"text/html; charset=", "text/html", ""},
           {"application/xhtml+xml;profile=\"a/b;c\"", "application/xhtml+xml", ""},
           {"charset=utf-8", "", "utf-8"},
           {"; charset=utf-8", "", "utf-8"},
           {"html", "", ""},
           {"/", "", ""},
           {"", "", ""}}) {
    EXPECT_EQ(ParseMediaType(c.value), (MediaType{c.type, c.charset})) << c.value;
  }
}

}  // namespace
}  // namespace stele::http
