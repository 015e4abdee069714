#include "formats/http/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stele::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ResponseHead Parsed(std::string_view bytes) {
  const Result<ResponseHead> head = ParseResponseHead(bytes);
  EXPECT_TRUE(head.ok()) << bytes;
  return head.ok() ? *head : ResponseHead{};
}

std::string HeadWithValueOf(std::size_t size) {
  std::string bytes = "HTTP/1.1 200 OK\r\nA: ";
  bytes.append(size, 'x');
  return bytes;
}

HeadOutcome Outcome(std::string_view bytes, bool at_end) {
  ResponseParser parser;
  return parser.Parse(bytes, at_end);
}

TEST(ResponseHead, KeepsEveryByteAndTheOrderOfFields) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nServer:  a \r\nset-cookie: x=1\r\nSet-Cookie:y=2\r\nEmpty:\r\n\r\nbody";
  const ResponseHead head = Parsed(bytes);
  EXPECT_EQ(head.version, "HTTP/1.1");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.reason, "OK");
  EXPECT_EQ(head.raw, bytes.substr(0, bytes.size() - 4));
  EXPECT_EQ(head.head_length, bytes.size() - 4);
  EXPECT_TRUE(head.defects.empty()) << head.defects.ToText();
  EXPECT_EQ(head.headers.fields().size(), 4u);
  EXPECT_EQ(head.headers.Find("SERVER"), "a");
  EXPECT_EQ(head.headers.Find("empty"), "");
  EXPECT_EQ(head.headers.Find("missing"), std::nullopt);
  EXPECT_THAT(head.headers.FindAll("Set-Cookie"), ElementsAre("x=1", "y=2"));
}

TEST(ResponseHead, BareAndMixedLineFeedsEndLines) {
  for (const char* bytes :
       {"HTTP/1.0 200 OK\nA: 1\nB: 2\n\nbody", "HTTP/1.0 200 OK\r\nA: 1\nB: 2\n\r\nbody",
        "HTTP/1.0 200 OK\nA: 1\r\nB: 2\r\n\nbody"}) {
    const ResponseHead head = Parsed(bytes);
    EXPECT_EQ(head.headers.Find("A"), "1");
    EXPECT_EQ(head.headers.Find("B"), "2");
    EXPECT_EQ(std::string_view(bytes).substr(head.head_length), "body");
    EXPECT_EQ(head.defects.ToText(), "bare-line-feed");
  }
}

TEST(ResponseHead, DoubledCarriageReturnsAreLineEnds) {
  const ResponseHead head = Parsed("HTTP/1.1 200 OK\r\r\nA: 1\r\r\n\r\r\nbody");
  EXPECT_EQ(head.headers.Find("A"), "1");
  EXPECT_EQ(head.head_length, 28u);
}

TEST(ResponseHead, FoldedLinesBelongToTheFieldBefore) {
  const ResponseHead head = Parsed("HTTP/1.1 200 OK\r\nA: 1,\r\n\t 2,\r\n \r\n 3 \r\nB: x\r\n\r\n");
  EXPECT_EQ(Unfold(*head.headers.Find("A")), "1, 2, 3");
  EXPECT_EQ(head.headers.Find("A"), "1,\r\n\t 2,\r\n \r\n 3");
  EXPECT_EQ(head.headers.Find("B"), "x");
  EXPECT_EQ(head.defects.ToText(), "folded-line");
}

TEST(ResponseHead, AFoldedStatusLineIsItsReason) {
  const ResponseHead head = Parsed("HTTP/1.1 404 Not\r\n Found\r\nA: 1\r\n\r\n");
  EXPECT_EQ(Unfold(head.reason), "Not Found");
  EXPECT_EQ(head.headers.fields().size(), 1u);
}

TEST(ResponseHead, ALeadingSpaceOnTheFirstFieldIsForgiven) {
  EXPECT_EQ(Parsed("HTTP/1.1 200 OK\r\n A: 1\r\nB: 2\r\n\r\n").headers.Find("a"), "1");
}

TEST(ResponseHead, EightBitAndControlCharactersAreKept) {
  const ResponseHead head = Parsed(
      "HTTP/1.1 404 Art\xED"
      "culo no encontrado\r\nLocation: /caf\xC3\xA9\r\nX: a\x01z\r\n\r\n");
  EXPECT_EQ(head.reason,
            "Art\xED"
            "culo no encontrado");
  EXPECT_EQ(head.headers.Find("location"), "/caf\xC3\xA9");
  EXPECT_EQ(head.headers.Find("x"), "a\x01z");
  EXPECT_EQ(head.defects.ToText(), "control-character,eight-bit");
}

TEST(ResponseHead, OddFieldLinesAreKeptAndNamed) {
  const ResponseHead space = Parsed("HTTP/1.1 200 OK\r\nContent-Type : text/html\r\n\r\n");
  EXPECT_EQ(space.headers.Find("Content-Type"), "text/html");
  EXPECT_EQ(space.defects.ToText(), "space-before-colon");
  const ResponseHead name = Parsed("HTTP/1.1 200 OK\r\nMy Header: 1\r\n: 2\r\n\r\n");
  EXPECT_EQ(name.headers.Find("my header"), "1");
  EXPECT_EQ(name.defects.ToText(), "bad-field-name");
  const ResponseHead no_colon = Parsed("HTTP/1.1 200 OK\r\nnonsense\r\nA: 1\r\n\r\n");
  EXPECT_EQ(no_colon.headers.fields()[0].name, "");
  EXPECT_EQ(no_colon.headers.fields()[0].value, "nonsense");
  EXPECT_EQ(no_colon.headers.Find("A"), "1");
  EXPECT_EQ(no_colon.defects.ToText(), "line-without-colon");
}

TEST(ResponseHead, OddStatusLinesAreRead) {
  struct Case {
    const char* line;
    const char* version;
    int status;
    const char* reason;
    const char* defects;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"HTTP/1.1 200", "HTTP/1.1", 200, "", "no-reason"},
           {"HTTP/1.1 200 ", "HTTP/1.1", 200, "", ""},
           {"HTTP/1.1  301\tMoved  Away ", "HTTP/1.1", 301, "Moved  Away", ""},
           {"HTTP/2 200", "HTTP/2", 200, "", "odd-version,no-reason"},
           {"HTTP/2.0 200 OK", "HTTP/2.0", 200, "OK", "odd-version"},
           {"http/1.1 200 OK", "http/1.1", 200, "OK", "odd-version"},
           {"HTTP 200 OK", "HTTP", 200, "OK", "odd-version"},
           {"ICY 200 OK", "ICY", 200, "OK", "odd-version"},
           {"HTTP/1.1 0 None", "HTTP/1.1", 0, "None", "bad-status"},
           {"HTTP/1.1 99 x", "HTTP/1.1", 99, "x", "bad-status"},
           {"HTTP/1.1 1000 x", "HTTP/1.1", 0, "1000 x", "bad-status"},
           {"HTTP/1.1 OK", "HTTP/1.1", 0, "OK", "bad-status"},
           {"HTTP/1.1 -1 x", "HTTP/1.1", 0, "-1 x", "bad-status"},
           {"HTTP/1.1 200OK", "HTTP/1.1", 200, "OK", "bad-status"},
           {"HTTP/1.1", "HTTP/1.1", 0, "", "bad-status"},
           {"200 OK", "", 200, "OK", "odd-version"}}) {
    const std::string bytes = std::string(c.line) + "\r\nA: 1\r\n\r\n";
    const ResponseHead head = Parsed(bytes);
    EXPECT_EQ(head.version, c.version) << c.line;
    EXPECT_EQ(head.status, c.status) << c.line;
    EXPECT_EQ(head.reason, c.reason) << c.line;
    EXPECT_EQ(head.defects.ToText(), c.defects) << c.line;
    EXPECT_EQ(head.headers.Find("A"), "1") << c.line;
  }
}

TEST(ResponseHead, LeadingEmptyLinesAndJunkAreSkippedButCounted) {
  const ResponseHead lines = Parsed("\r\n\n HTTP/1.1 200 OK\r\n\r\nbody");
  EXPECT_EQ(lines.head_length, 23u);
  EXPECT_EQ(lines.raw, "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_TRUE(lines.defects.Has(Defect::kLeadingEmptyLines));
  const ResponseHead junk = Parsed("\xEF\xBB\xBFHTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(junk.head_length, 22u);
  EXPECT_TRUE(junk.defects.Has(Defect::kLeadingJunk));
  EXPECT_EQ(Parsed("12345678HTTP/1.1 200 OK\r\n\r\n").status, 200);
}

TEST(ResponseHead, BodiesWithoutHeadAreToldFromHeads) {
  for (const char* bytes : {"<html><body>old</body></html>", "HTTP is a protocol", "HTTPS://x",
                            "ICY road", "404 not found", "200 OK\nand a text, no field",
                            "123456789HTTP/1.1 200 OK\r\n\r\n", "", "\r\n\r\n", "H", "HTTP"}) {
    EXPECT_EQ(Outcome(bytes, true), HeadOutcome::kNoHead) << bytes;
    EXPECT_EQ(ParseResponseHead(bytes).error().code, ErrorCode::kCorrupt);
  }
  EXPECT_EQ(Outcome("<html><body>old", false), HeadOutcome::kNoHead);
  EXPECT_EQ(Outcome("<html>", false), HeadOutcome::kNeedMore) << "may be junk before HTTP/";
  EXPECT_EQ(Outcome(std::string(2000, ' '), false), HeadOutcome::kNoHead);
}

TEST(ResponseHead, AnUnterminatedHeadIsCompleteOnlyAtTheEnd) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2";
  EXPECT_EQ(Outcome(bytes, false), HeadOutcome::kNeedMore);
  const ResponseHead head = Parsed(bytes);
  EXPECT_EQ(head.headers.Find("B"), "2");
  EXPECT_EQ(head.head_length, bytes.size());
  EXPECT_EQ(head.defects.ToText(), "head-unterminated");
}

TEST(ResponseHead, InterimResponsesAreKeptAndTheFinalOneCounts) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
      "HTTP/1.1 200 OK\r\nA: 1\r\n\r\nbody";
  const ResponseHead head = Parsed(bytes);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(bytes.substr(head.head_length), "body");
  ASSERT_EQ(head.interim.size(), 2u);
  EXPECT_EQ(head.interim[0].status, 100);
  EXPECT_EQ(head.interim[0].raw, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(head.interim[1].status, 103);
  EXPECT_EQ(head.interim[1].raw, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
  EXPECT_EQ(head.raw, "HTTP/1.1 200 OK\r\nA: 1\r\n\r\n");
}

TEST(ResponseHead, AnInterimResponseWithNothingBehindIsFinal) {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(Outcome(interim, false), HeadOutcome::kNeedMore);
  for (const char* rest : {"", "no head"}) {
    const std::string bytes = interim + rest;
    const ResponseHead head = Parsed(bytes);
    EXPECT_EQ(head.status, 100);
    EXPECT_EQ(head.head_length, interim.size());
    EXPECT_THAT(head.interim, IsEmpty());
  }
  std::string many;
  for (int i = 0; i < 40; ++i) many += interim;
  EXPECT_EQ(Parsed(many).interim.size(), 16u);
}

TEST(ResponseHead, SwitchingProtocolsIsFinal) {
  const ResponseHead head =
      Parsed("HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(head.status, 101);
  EXPECT_EQ(head.head_length, 36u);
}

TEST(ResponseHead, TheSizeLimitHoldsForPiecesAndWholes) {
  const std::string bytes = HeadWithValueOf(100) + "\r\n\r\n";
  ResponseParser exact(bytes.size());
  EXPECT_EQ(exact.Parse(bytes, false), HeadOutcome::kComplete);
  ResponseParser whole(bytes.size() - 1);
  EXPECT_EQ(whole.Parse(bytes, false), HeadOutcome::kTooLong);
  ResponseParser endless(1000);
  EXPECT_EQ(endless.Parse(HeadWithValueOf(1000), false), HeadOutcome::kTooLong);
  const std::string huge = HeadWithValueOf(kHeadSizeMax);
  EXPECT_EQ(ParseResponseHead(huge).error().code, ErrorCode::kFull);
}

TEST(ResponseHead, ByteByByteFeedingFindsTheSameHead) {
  for (const std::string& bytes :
       {std::string("HTTP/1.1 200 OK\r\nA: 1\r\n b\r\n\r\nbody"),
        std::string("\n\nICY 200 OK\nA: 1\n\nbody"),
        std::string("\xEF\xBB\xBFHTTP/1.0 200\n\r\nbody"),
        std::string("200 OK\r\nA: 1\r\n\r\nbody"),
        std::string(
            "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 404 N\r\nA: 1\r\n\r\nbody"),
        std::string("HTTP/1.1 200 OK\r\nA: 1\r\r\n\r\r\nbody")}) {
    const ResponseHead whole = Parsed(bytes);
    ResponseParser parser;
    std::size_t size = 0;
    while (parser.Parse(bytes.substr(0, size), false) == HeadOutcome::kNeedMore) ++size;
    EXPECT_EQ(size, whole.head_length) << bytes;
    ASSERT_EQ(parser.Parse(bytes, false), HeadOutcome::kComplete);
    EXPECT_EQ(parser.head().head_length, whole.head_length);
    EXPECT_EQ(parser.head().status, whole.status);
    EXPECT_EQ(parser.head().interim.size(), whole.interim.size());
    EXPECT_EQ(parser.head().headers.fields().size(), whole.headers.fields().size());
  }
}

TEST(ResponseHead, FeedingAHugeHeadByteByByteStaysLinear) {
  std::string bytes = "HTTP/1.1 200 OK\r\n";
  ResponseParser parser(300000);
  HeadOutcome outcome = HeadOutcome::kNeedMore;
  for (const char c : {'\r', 'x', '\n', ':'}) {
    for (int i = 0; i < 50000 && outcome == HeadOutcome::kNeedMore; ++i) {
      bytes += c == '\n' ? "a\n" : std::string(1, c);
      outcome = parser.Parse(bytes, false);
    }
  }
  EXPECT_EQ(outcome, HeadOutcome::kNeedMore);
}

TEST(Headers, ListsAreSplitTrimmedAndJoinedOverFields) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nA: x, ,y\r\nB: q\r\na:z,\r\n\r\n";
  const ResponseHead head = Parsed(bytes);
  EXPECT_THAT(head.headers.List("a"), ElementsAre("x", "y", "z"));
}

TEST(RequestHead, IsReadWithItsOddities) {
  const std::string bytes = "\r\nGET /a b?c HTTP/1.1\r\nHost: x\r\n\r\n";
  const Result<RequestHead> head = ParseRequestHead(bytes);
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->method, "GET");
  EXPECT_EQ(head->target, "/a b?c");
  EXPECT_EQ(head->version, "HTTP/1.1");
  EXPECT_EQ(head->headers.Find("host"), "x");
  EXPECT_EQ(head->raw, bytes.substr(2));
  EXPECT_EQ(head->head_length, bytes.size());
  const Result<RequestHead> old = ParseRequestHead("GET /index.html\r\n");
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(old->target, "/index.html");
  EXPECT_EQ(old->version, "");
  EXPECT_TRUE(old->defects.Has(Defect::kOddVersion));
  EXPECT_EQ(ParseRequestHead("M-SEARCH * HTTP/1.1\r\n\r\n")->target, "*");
  EXPECT_EQ(ParseRequestHead("GET http://a/ \tHTTP/1.0\n\n")->target, "http://a/");
}

TEST(RequestHead, OtherBytesAreNone) {
  for (const char* bytes : {"", "GET", "Hello world, how are you\r\n\r\n", "<html>", " : x\r\n\r\n",
                            "\x16\x03\x01\x02\x00\x01"}) {
    EXPECT_EQ(ParseRequestHead(bytes).error().code, ErrorCode::kCorrupt) << bytes;
  }
  RequestParser parser;
  EXPECT_EQ(parser.Parse("GE", false), HeadOutcome::kNeedMore);
  EXPECT_EQ(parser.Parse("GET / HTTP/1.1\r\n", false), HeadOutcome::kNeedMore);
  EXPECT_EQ(parser.Parse("GET / HTTP/1.1\r\n\r\n", false), HeadOutcome::kComplete);
}

}  // namespace
}  // namespace stele::http
