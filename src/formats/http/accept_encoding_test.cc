#include "formats/http/accept_encoding.h"

#include <gtest/gtest.h>

namespace stele::http {
namespace {

bool Accepts(std::string_view value, std::string_view coding) {
  Headers headers;
  headers.Add("Accept-Encoding", value);
  return AcceptsCoding(headers, coding);
}

TEST(AcceptEncoding, NamedCodingsAreTaken) {
  EXPECT_TRUE(Accepts("gzip", "gzip"));
  EXPECT_TRUE(Accepts("br, GZip;q=0.5 , zstd", "gzip"));
  EXPECT_TRUE(Accepts("gzip; q=0.001", "gzip"));
  EXPECT_TRUE(Accepts("gzip;level=9", "gzip"));
  EXPECT_FALSE(AcceptsCoding(Headers(), "gzip"));
  EXPECT_FALSE(Accepts("", "gzip"));
  EXPECT_FALSE(Accepts("*", "gzip"));
  EXPECT_FALSE(Accepts("x-gzip, br", "gzip"));
}

TEST(AcceptEncoding, AWeightOfZeroRefuses) {
  for (const std::string_view value : {"gzip;q=0", "gzip; Q=0.000", "br, gzip ;  q=0."}) {
    EXPECT_FALSE(Accepts(value, "gzip")) << value;
  }
}

}  // namespace
}  // namespace stele::http
