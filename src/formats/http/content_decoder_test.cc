#include "formats/http/content_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/test_samples.h"

namespace stele::http {
namespace {

using codec::Markup;
using codec::Noise;

struct Decoded {
  std::string content;
  std::string defects;
  bool operator==(const Decoded&) const = default;
};

class ContentDecoding : public testing::Test {
 protected:
  std::string Packed(std::string_view coding, std::string_view text) const {
    return registry_.Find(coding)->Compress(text, 6).value();
  }

  Decoded DecodeIn(const std::vector<std::string_view>& codings, std::string_view payload,
                   std::size_t in_step, std::size_t out_step, const ContentLimits& limits) const {
    ContentDecoder decoder(registry_, codings, limits);
    Decoded result;
    std::string room(out_step, '\0');
    for (;;) {
      const std::string_view piece = payload.substr(0, in_step);
      const auto step = decoder.Decode(piece, room, piece.size() == payload.size());
      result.content.append(room.data(), step.produced);
      payload.remove_prefix(step.consumed);
      if (step.done) break;
      if (step.consumed == 0 && step.produced == 0) {
        ADD_FAILURE() << "stuck";
        break;
      }
    }
    result.defects = decoder.defects().ToText();
    return result;
  }

  // In pieces of several sizes, and as a whole; all must agree.
  Decoded Decode(const std::vector<std::string_view>& codings, std::string_view payload,
                 const ContentLimits& limits = {}) const {
    const Decoded whole = DecodeIn(codings, payload, payload.size() + 1, 1 << 16, limits);
    for (const auto& [in_step, out_step] : std::initializer_list<std::pair<int, int>>{
             {1, 1000}, {2, 1}, {3, 7}, {17, 100}, {1000, 3}, {100000, 33000}}) {
      const Decoded pieces = DecodeIn(codings, payload, in_step, out_step, limits);
      EXPECT_TRUE(pieces.content == whole.content) << in_step << "/" << out_step;
      EXPECT_EQ(pieces.defects, whole.defects) << in_step << "/" << out_step;
    }
    return whole;
  }

  codec::Registry registry_ = codec::StandardRegistry();
  std::string text_ = Markup(5000);
};

TEST_F(ContentDecoding, EachCodingComesOff) {
  for (const char* coding : {"gzip", "x-gzip", "GZIP", "deflate", "zstd"}) {
    EXPECT_EQ(Decode({coding}, Packed(coding, text_)), (Decoded{text_, ""})) << coding;
  }
  EXPECT_EQ(Decode({"br"}, codec::BrotliSample()), (Decoded{codec::BrotliSampleText(), ""}));
  const std::string zlib = Packed("deflate", text_);
  EXPECT_EQ(Decode({"deflate"}, zlib.substr(2, zlib.size() - 6)), (Decoded{text_, ""})) << "raw";
}

TEST_F(ContentDecoding, IdentityAndNoneAreTheBytesThemselves) {
  for (const std::vector<std::string_view>& codings :
       {std::vector<std::string_view>{}, {"identity"}, {"identity", "identity"}}) {
    EXPECT_TRUE(ContentDecoder(registry_, codings).passes_through());
    EXPECT_EQ(Decode(codings, text_), (Decoded{text_, ""}));
  }
}

TEST_F(ContentDecoding, SeveralCodingsComeOffFromTheLast) {
  const std::string twice = Packed("zstd", Packed("gzip", text_));
  EXPECT_EQ(Decode({"gzip", "zstd"}, twice), (Decoded{text_, ""}));
  const std::string big = Markup(300000);
  const std::string thrice = Packed("deflate", Packed("gzip", Packed("gzip", big)));
  EXPECT_EQ(DecodeIn({"gzip", "identity", "gzip", "deflate"}, thrice, 1000, 1000, {}),
            (Decoded{big, ""}));
}

TEST_F(ContentDecoding, UnknownCodingsHideWhatIsBelow) {
  EXPECT_EQ(Decode({"utf-8"}, text_), (Decoded{text_, "unknown-coding"}));
  const std::string gzip = Packed("gzip", text_);
  EXPECT_EQ(Decode({"gzip", "pack200"}, gzip), (Decoded{gzip, "unknown-coding"}));
  EXPECT_EQ(Decode({"pack200", "gzip"}, gzip), (Decoded{text_, "unknown-coding"}));
  EXPECT_EQ(Decode({"gzip", "gzip", "gzip", "gzip", "gzip", "gzip"}, gzip),
            (Decoded{gzip, "too-many-codings"}));
}

TEST_F(ContentDecoding, AWrongLabelPassesTheBytesAsTheyAre) {
  for (const char* coding : {"gzip", "deflate", "zstd", "br"}) {
    EXPECT_EQ(Decode({coding}, "<!DOCTYPE html><html>plain</html>"),
              (Decoded{"<!DOCTYPE html><html>plain</html>", "wrong-coding"}))
        << coding;
  }
  EXPECT_EQ(Decode({"gzip"}, "\x1f\x8b is how it begins"),
            (Decoded{"\x1f\x8b is how it begins", "wrong-coding"}));
  EXPECT_EQ(Decode({"br", "gzip"}, Packed("gzip", "<p>only one</p>")),
            (Decoded{"<p>only one</p>", "wrong-coding"}));
}

TEST_F(ContentDecoding, SeveralMembersAreOneContent) {
  EXPECT_EQ(Decode({"gzip"}, Packed("gzip", "a") + Packed("gzip", "") + Packed("gzip", text_)),
            (Decoded{"a" + text_, ""}));
  EXPECT_EQ(Decode({"zstd"}, Packed("zstd", "a") + Packed("zstd", text_)),
            (Decoded{"a" + text_, ""}));
}

TEST_F(ContentDecoding, TrailingBytesAreLeftOut) {
  for (const char* coding : {"gzip", "deflate", "zstd"}) {
    for (const std::string& tail :
         {std::string("x"), std::string(600, '\0'), std::string("<!-- c -->")}) {
      const Decoded got = Decode({coding}, Packed(coding, text_) + tail);
      EXPECT_EQ(got.content, text_);
      // One byte may yet be the beginning of a stream.
      EXPECT_THAT(got.defects, testing::AnyOf("trailing-content", "short-content")) << coding;
    }
  }
  EXPECT_EQ(Decode({"br"}, codec::BrotliSample() + "x").defects, "trailing-content");
}

TEST_F(ContentDecoding, TruncationGivesWhatDecodes) {
  for (const char* coding : {"gzip", "deflate", "zstd"}) {
    const std::string packed = Packed(coding, Markup(200000));
    const Decoded got =
        DecodeIn({coding}, packed.substr(0, packed.size() - 3), 1000, 1000, ContentLimits{});
    EXPECT_GT(got.content.size(), 60000u);
    EXPECT_EQ(got.defects, "short-content");
  }
  EXPECT_EQ(Decode({"gzip"}, Packed("gzip", text_).substr(0, 5)), (Decoded{"", "short-content"}));
}

TEST_F(ContentDecoding, AnEmptyPayloadIsEmptyContent) {
  for (const char* coding : {"gzip", "deflate", "zstd", "br"}) {
    EXPECT_EQ(Decode({coding}, ""), (Decoded{"", ""}));
  }
}

TEST_F(ContentDecoding, DamageInTheMiddleGivesWhatCameBefore) {
  std::string packed = Packed("gzip", Markup(200000));
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  EXPECT_EQ(DecodeIn({"gzip"}, packed, 1000, 1000, {}),
            (Decoded{Markup(200000), "corrupt-content"}));
}

TEST_F(ContentDecoding, TheSizeLimitCutsExactly) {
  ContentLimits limits;
  limits.size_max = text_.size();
  EXPECT_EQ(Decode({"gzip"}, Packed("gzip", text_), limits), (Decoded{text_, ""}));
  limits.size_max = text_.size() - 1;
  EXPECT_EQ(Decode({"gzip"}, Packed("gzip", text_), limits),
            (Decoded{text_.substr(0, text_.size() - 1), "content-too-large"}));
}

TEST_F(ContentDecoding, BombsAreCutByTheirRatio) {
  const std::string bomb = Packed("gzip", std::string(64 << 20, '\0'));
  ContentLimits limits;
  limits.ratio_from = 1 << 20;
  const Decoded got = DecodeIn({"gzip"}, bomb, bomb.size(), 1 << 16, limits);
  EXPECT_EQ(got.defects, "content-too-large");
  EXPECT_LE(got.content.size(), (1u << 20) + (1u << 16));
  // Twice packed: the outer coding stays small, the inner one is cut.
  const Decoded twice = DecodeIn({"gzip", "gzip"}, Packed("gzip", bomb), 1000, 1 << 16, limits);
  EXPECT_EQ(twice.defects, "content-too-large");
  EXPECT_LE(twice.content.size(), (1u << 20) + (1u << 16));
}

}  // namespace
}  // namespace stele::http
