#include "store/remote/connector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/posix_file_system.h"
#include "util/test_paths.h"

namespace stele::store {
namespace {

using testing::HasSubstr;

constexpr std::string_view kVolume =
    R"(<volume name="v" state="writable" depth="3" host="h" port="1"/>)";

std::string Document(std::string_view inside) {
  return "<connector version=\"1\" epoch=\"7\">\n" + std::string(inside) + "</connector>";
}

std::string ErrorOf(std::string_view xml) {
  const Result<Connector> connector = ParseConnector(xml);
  return connector ? "none" : connector.error().text;
}

TEST(Connector, W8_TheGoldenFileIsReadAndWrittenAgain) {
  io::PosixFileSystem fs;
  const Result<std::string> xml =
      io::ReadFile(fs, SourcePath("src/store/remote/golden/connector-1.xml"));
  ASSERT_TRUE(xml) << xml.error().text;
  const Result<Connector> connector = ParseConnector(*xml);
  ASSERT_TRUE(connector) << connector.error().text;
  EXPECT_EQ(connector->epoch, 3u);
  ASSERT_EQ(connector->volumes.size(), 3u);
  const Connector::VolumeAddress first{"tomba-1", VolumeState::kWritable, 3, "192.0.2.1", 8001};
  EXPECT_EQ(connector->volumes[0], first);
  EXPECT_EQ(connector->volumes[1].state, VolumeState::kReadOnly);
  EXPECT_TRUE(connector->volumes[2].tls);
  EXPECT_EQ(FormatConnector(*connector), *xml);
}

TEST(Connector, W8_SignatureAndPlacementHaveDefaults) {
  const Result<Connector> connector = ParseConnector(Document(kVolume));
  ASSERT_TRUE(connector) << connector.error().text;
  EXPECT_EQ(connector->signature, "sha256");
  EXPECT_EQ(connector->placement, Placement::kModulo);
  EXPECT_EQ(connector->epoch, 7u);
}

TEST(Connector, W8_CommentsMayStandAnywhere) {
  EXPECT_EQ(ErrorOf("<!-- a -->" + Document("<!-- b -->" + std::string(kVolume)) + "<!-- c -->"),
            "none");
}

TEST(Connector, W8_ErrorsSayWhatIsWrongAndWhere) {
  const auto volume = [](std::string_view attributes) {
    return ErrorOf(Document("<volume " + std::string(attributes) + "/>"));
  };
  const std::string good = R"(state="writable" depth="3" host="h" port="1")";
  EXPECT_EQ(volume(good),
            "connector, line 2: attribute 'name' is missing: 1 to 64 of a-z, 0-9, - and _");
  EXPECT_THAT(volume("name=\"A\" " + good), HasSubstr("name=\"A\" must be"));
  EXPECT_THAT(volume("name=\"a\" color=\"red\" " + good), HasSubstr("no attribute 'color'"));
  EXPECT_THAT(volume("name=\"a\" name=\"a\" " + good), HasSubstr("stands twice"));
  EXPECT_THAT(volume(R"(name="a" state="full" depth="3" host="h" port="1")"),
              HasSubstr("state=\"full\" must be"));
  EXPECT_THAT(volume(R"(name="a" state="frozen" depth="65" host="h" port="1")"),
              HasSubstr("depth=\"65\""));
  EXPECT_THAT(volume(R"(name="a" state="frozen" depth="3" host="h/x" port="1")"),
              HasSubstr("host=\"h/x\""));
  EXPECT_THAT(volume(R"(name="a" state="frozen" depth="3" host="h" port="65536")"),
              HasSubstr("port=\"65536\""));
  EXPECT_THAT(ErrorOf(Document(std::string(kVolume) + "\n" + std::string(kVolume))),
              HasSubstr("line 3: volume v stands twice"));
  EXPECT_THAT(ErrorOf(Document("")), HasSubstr("has no <volume>"));
  EXPECT_THAT(ErrorOf(Document("text" + std::string(kVolume))), HasSubstr("only elements"));
  EXPECT_THAT(ErrorOf("<connector version=\"2\"/>"), HasSubstr("version=\"2\" must be 1"));
  EXPECT_THAT(ErrorOf("<connector version=\"1\"/>"), HasSubstr("'epoch' is missing"));
  EXPECT_THAT(ErrorOf("<other/>"), HasSubstr("<other> instead of <connector>"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("no element"));
  EXPECT_THAT(ErrorOf("<connector\n\n"), HasSubstr("connector, line"));
  EXPECT_THAT(ErrorOf(Document(kVolume) + Document(kVolume)), HasSubstr("only one element"));
  EXPECT_THAT(ErrorOf(Document(kVolume) + std::string(1, '\0')), HasSubstr("zero byte"));
}

TEST(Connector, W8_HostileXmlIsRefusedWithinBounds) {
  EXPECT_THAT(ErrorOf("<!DOCTYPE a [<!ENTITY b \"c\">]>" + Document(kVolume)),
              HasSubstr("only one element"));
  EXPECT_THAT(ErrorOf(Document(R"(<volume name="&b;"/>)")), HasSubstr("name=\"&b;\""));
  std::string deep;
  while (deep.size() < kConnectorSizeMax - 10) deep += "<a>";
  EXPECT_NE(ErrorOf(deep), "none");
  EXPECT_THAT(ErrorOf(std::string(kConnectorSizeMax + 1, ' ')), HasSubstr("more than"));
  EXPECT_LT(ErrorOf("<" + std::string(100'000, 'x') + "/>").size(), 400u);
}

}  // namespace
}  // namespace stele::store
