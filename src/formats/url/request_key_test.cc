#include "formats/url/request_key.h"

#include <gtest/gtest.h>

#include "formats/url/request_body.h"
#include "formats/url/surt.h"

namespace stele::url {
namespace {

constexpr std::string_view kForm = "application/x-www-form-urlencoded";
constexpr std::string_view kJson = "application/json";

// What a POST to http://a.com/ adds after "__wb_method=POST".
std::string Added(std::string_view content_type, std::string_view body) {
  const std::string url = RequestUrl("http://a.com/", "POST", content_type, body);
  constexpr std::string_view kPrefix = "http://a.com/?__wb_method=POST";
  EXPECT_TRUE(url.starts_with(kPrefix)) << url;
  return url.substr(kPrefix.size());
}

TEST(RequestKey, GetIsTheUrlItself) {
  EXPECT_EQ(RequestUrl("http://a.com/x#f", "GET", kForm, "a=b"), "http://a.com/x#f");
  EXPECT_EQ(RequestUrl("http://a.com/x", "get", "", ""), "http://a.com/x");
  EXPECT_EQ(RequestUrl("http://a.com/x", "", "", ""), "http://a.com/x");
}

TEST(RequestKey, MethodIsAnArgumentBeforeTheFragment) {
  EXPECT_EQ(RequestUrl("http://a.com/x", "HEAD", "", ""), "http://a.com/x?__wb_method=HEAD");
  EXPECT_EQ(RequestUrl("http://a.com/x?y", "options", "", ""),
            "http://a.com/x?y&__wb_method=OPTIONS");
  EXPECT_EQ(RequestUrl("http://a.com/x#f", "DELETE", "", ""), "http://a.com/x?__wb_method=DELETE");
}

TEST(RequestKey, OnlyPostAndPutHaveBodies) {
  EXPECT_EQ(RequestUrl("http://a/", "PUT", kForm, "a=b"), "http://a/?__wb_method=PUT&a=b");
  EXPECT_EQ(RequestUrl("http://a/", "PATCH", kForm, "a=b"), "http://a/?__wb_method=PATCH");
}

TEST(RequestKey, FormsAreDecoded) {
  EXPECT_EQ(Added(kForm, ""), "");
  EXPECT_EQ(Added(kForm, "a+b=c%20d&e=%2525"), "&a b=c d&e=%25");
  EXPECT_EQ(Added("application/x-www-form-urlencoded; charset=utf-8", "a=b"), "&a=b");
  EXPECT_EQ(Added(kForm, "%C3%28%e2%82x%zz"), "&\xEF\xBF\xBD(\xEF\xBF\xBDx%zz");
  EXPECT_EQ(Added(kForm, "a=\xFF"), "&__wb_post_data=YT3/");
}

TEST(RequestKey, JsonLeavesAreNamedByTheNearestMember) {
  EXPECT_EQ(Added(kJson, R"({"some": {"a": "json-data"}})"), "&a=json-data");
  EXPECT_EQ(Added(kJson, R"({"a":1,"b":[1,2,{"c":true}],"d":null,"e":false,"f":1.5,"g":"x y&z"})"),
            "&a=1&b=1&b.2_=2&c=True&d=None&e=False&f=1.5&g=x+y%26z");
  EXPECT_EQ(Added(kJson, R"({"a":1,"b":{"a":2},"c":{"a":3}})"), "&a=1&a.2_=2&a.3_=3");
  EXPECT_EQ(Added(kJson, R"({"a":1,"a.2_":5,"b":{"a":2}})"), "&a=1&a.2_=2");
  EXPECT_EQ(Added(kJson, R"([1,"x",{"y":1},[2]])"), "&y=1");
  EXPECT_EQ(Added(kJson, "1"), "");
}

TEST(RequestKey, JsonNumbersAreWrittenAsPythonDoes) {
  EXPECT_EQ(
      Added(kJson, R"({"a":1e3,"b":1E30,"c":-0.0,"d":1.0,"e":12345678901234567890123,"f":-0})"),
      "&a=1000.0&b=1e%2B30&c=-0.0&d=1.0&e=12345678901234567890123&f=0");
  EXPECT_EQ(Added(kJson, R"({"a":1e-7,"b":0.0001,"c":1e16,"d":123456789012345680.0,"e":5e-324})"),
            "&a=1e-07&b=0.0001&c=1e%2B16&d=1.2345678901234568e%2B17&e=5e-324");
}

TEST(RequestKey, JsonMayHaveOneDocumentInEachLine) {
  EXPECT_EQ(Added(kJson, "{\"a\":1}\n{\"a\":2}"), "&a=1&a.2_=2");
  EXPECT_EQ(Added(kJson, "{\"a\":1}\n{\"a\":2}\n"), "");
}

TEST(RequestKey, BrokenJsonCountsAsNothingAndInTextAsBytes) {
  EXPECT_EQ(Added(kJson, "{\"a\":1"), "");
  EXPECT_EQ(Added("text/plain;charset=UTF-8", "{\"a\":1}"), "&a=1");
  EXPECT_EQ(Added("text/plain", "a=b"), "&__wb_post_data=YT1i");
}

TEST(RequestKey, HostileJsonIsBounded) {
  EXPECT_EQ(JsonAsQuery(std::string(100000, '[')), std::nullopt);
  EXPECT_EQ(JsonAsQuery(std::string(kMaxJsonBodyBytes + 1, ' ')), std::nullopt);
  EXPECT_EQ(JsonAsQuery(std::string(400, '[') + std::string(400, ']')), "");
}

TEST(RequestKey, MultipartFieldsKeepTheirOrder) {
  const std::string_view body =
      "preamble\r\n--BB\r\nContent-Disposition: form-data; name=\"b c\"\r\n\r\nx&y\r\n"
      "--BB\r\ncontent-type: text/plain\r\nContent-Disposition: form-data; name=\"a%22\\\"\"; "
      "filename=\"f\"\r\n\r\n1\r\n2\r\n--BB\r\nContent-Disposition: form-data; "
      "name=e\r\n\r\n\r\n--BB--";
  EXPECT_EQ(Added("multipart/form-data; boundary=BB", body), "&b+c=x%26y&a%22%22=1%0D%0A2&e=");
  EXPECT_EQ(Added("multipart/form-data; boundary=\"BB\"; x", body),
            "&b+c=x%26y&a%22%22=1%0D%0A2&e=");
  EXPECT_EQ(Added("multipart/form-data; boundary=BB", "--BB--\r\n"), "");
}

TEST(RequestKey, BrokenMultipartIsBytes) {
  for (const char* body : {"", "x", "--BB", "--BB\r\n", "--BB\r\nA: b\r\n\r\nx\r\n--BB--",
                           "--BB\r\nContent-Disposition: form-data; name=a\r\n\r\nx"}) {
    EXPECT_EQ(MultipartAsQuery("multipart/form-data; boundary=BB", body), std::nullopt) << body;
  }
  EXPECT_EQ(Added("multipart/form-data", "abc"), "&__wb_post_data=YWJj");
}

TEST(RequestKey, OtherBodiesAreBase64) {
  EXPECT_EQ(Added("", "hello"), "&__wb_post_data=aGVsbG8=");
  EXPECT_EQ(Added("application/octet-stream", ""), "&__wb_post_data=");
  EXPECT_EQ(Added("image/png", std::string_view("\xFF\xFE\0", 3)), "&__wb_post_data=//4A");
}

TEST(RequestKey, BodiesAreCutAt4096Characters) {
  EXPECT_EQ(Added(kForm, std::string(5000, 'x')), "&" + std::string(4096, 'x'));
  std::string accents;
  for (int i = 0; i < 5000; ++i) accents += "%C3%A9";
  EXPECT_EQ(Added(kForm, accents).size(), 1 + 2 * kMaxBodyQueryCharacters);
  EXPECT_EQ(Added("", std::string(100000, 'x')).size(), 1 + kMaxBodyQueryCharacters);
}

// The requests of the sample files post-test.warc.gz and post-test-more.warc, and the keys of their
// CDX and CDXJ files.
TEST(RequestKey, KeysEqualThoseOfTheSampleIndexes) {
  const auto key = [](std::string_view url, std::string_view type, std::string_view body) {
    return SurtKey(RequestUrl(url, "POST", type, body));
  };
  EXPECT_EQ(key("http://httpbin.org/post", kForm, "foo=bar&test=abc"),
            "org,httpbin)/post?__wb_method=post&foo=bar&test=abc");
  EXPECT_EQ(key("http://httpbin.org/post", kForm, "A=1&B=[]&C=3"),
            "org,httpbin)/post?__wb_method=post&a=1&b=[]&c=3");
  EXPECT_EQ(key("http://httpbin.org/post?foo=bar", kForm, "data=^"),
            "org,httpbin)/post?__wb_method=post&data=^&foo=bar");
  EXPECT_EQ(key("https://httpbin.org/post", kJson, R"({"some": {"a": "json-data"}})"),
            "org,httpbin)/post?__wb_method=post&a=json-data");
  EXPECT_EQ(key("https://httpbin.org/post", "", "somechunk-encodeddata"),
            "org,httpbin)/post?__wb_method=post&__wb_post_data=c29tzwnodw5rlwvuy29kzwrkyxrh");
  EXPECT_EQ(
      key("https://httpbin.org/post",
          "multipart/form-data; boundary=09a954f046a718e97ca0da38dd797a61",
          "--09a954f046a718e97ca0da38dd797a61\r\nContent-Disposition: form-data; name=\"test\"; "
          "filename=\"test\"\r\n\r\nsome data\r\n--09a954f046a718e97ca0da38dd797a61\r\n"
          "Content-Disposition: form-data; name=\"another\"; filename=\"another\"\r\n\r\n"
          "more^data\r\n--09a954f046a718e97ca0da38dd797a61--\r\n"),
      "org,httpbin)/post?__wb_method=post&another=more^data&test=some+data");
}

}  // namespace
}  // namespace stele::url
