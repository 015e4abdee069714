#include "formats/html/pdf_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "formats/html/link_testing.h"

namespace stele::html {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Deflate(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size,
           reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  out.resize(size);
  return out;
}

std::string ObjectStream(std::string_view objects) {
  return "1 0 obj <</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length 99999>>stream\r\n" +
         Deflate(objects) + "\nendstream endobj\n";
}

std::vector<std::string> Pdf(const std::string& body) {
  return LinesOf("%PDF-1.5\n" + body, "application/pdf");
}

TEST(PdfLinks, TakesLiteralAndHexStrings) {
  EXPECT_THAT(Pdf("<</S/URI/URI(http://a.example/\\(x\\)?\\141=(b))>> "
                  "<</S /URI /URI <687474703A2F2F 622E6578616D706C652F>>> "
                  "<</URI(http://c.example/l\\\nong)>>"),
              ElementsAre("L http://a.example/(x)?a=(b)", "L http://b.example/",
                          "L http://c.example/long"));
}

TEST(PdfLinks, LooksIntoObjectStreams) {
  EXPECT_THAT(Pdf(ObjectStream("<</A<</S/URI/URI(http://a.example/1)>>>>") +
                  ObjectStream("<</URI(/2.pdf)>>")),
              ElementsAre("L http://a.example/1", "L http://example.org/2.pdf"));
}

TEST(PdfLinks, TakesNothingFromEncryptedFiles) {
  EXPECT_THAT(Pdf("<</URI(http://a.example/)>> trailer <</Encrypt 5 0 R>>"), IsEmpty());
}

TEST(PdfLinks, SurvivesBombsAndLies) {
  const std::string bomb = ObjectStream(std::string(100 << 20, '('));
  std::string many;
  for (int i = 0; i < 20; ++i) many += bomb;
  EXPECT_THAT(Pdf(many), IsEmpty());
  std::string streams;
  while (streams.size() < 3'000'000) streams += "/ObjStm stream\n";
  EXPECT_THAT(Pdf(streams), IsEmpty());
  std::string open;
  while (open.size() < 3'000'000) open += "/URI(";
  EXPECT_THAT(Pdf(open), IsEmpty());
  EXPECT_THAT(Pdf("/ObjStm>>stream"), IsEmpty());
  EXPECT_THAT(Pdf("/URI<4"), IsEmpty());
}

}  // namespace
}  // namespace stele::html
