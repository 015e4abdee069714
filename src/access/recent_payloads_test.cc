#include "access/recent_payloads.h"

#include "access/test_access.h"
#include "codec/registry.h"

namespace stele::access {
namespace {

using testing::PutFile;
using testing::Serving;
using testing::WarcText;

constexpr catalog::CaptureId kFirst{201401, 0};

class RecentPayloadsTest : public Serving {
 protected:
  void Open() {
    auto served = ServedArchive::Open(fs_, "a", "lab", "");
    ASSERT_TRUE(served) << served.error().text;
    served_ = std::move(*served);
  }
  Result<std::string> Read(bool keeps_coding) {
    const Sight sight(served_->Now(), clock_.Now(), {});
    const auto held = sight.view().catalog().Get(kFirst);
    if (!held) return held.error();
    auto content = CaptureContent::Open(sight, *held,
                                        [keeps_coding](std::string_view) { return keeps_coding; });
    if (!content) return content.error();
    EXPECT_EQ((*content)->head().Find("X-Mark"), "here");
    EXPECT_EQ((*content)->coding(), keeps_coding ? "gzip" : "");
    EXPECT_EQ((*content)->length().has_value(), keeps_coding);
    return (*content)->ReadAll(1 << 20);
  }

  std::unique_ptr<ServedArchive> served_;
};

TEST_F(RecentPayloadsTest, W15_WhatWasReadIsNotReadAgainUntilTheArchiveIsLookedAt) {
  const std::string packed = *codec::StandardRegistry().Find("gzip")->Compress("some text", 6);
  Bring(WarcText().Block(
      "http://a.org/", "2014-01-01T00:00:00Z",
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-Mark: here\r\n\r\n" + packed));
  Open();
  const std::string path =
      *served_->Now()->view.PathOf(served_->Now()->view.catalog().Get(kFirst)->row.place.container);
  EXPECT_EQ(*Read(false), "some text");
  // The file is another one now, and nobody looks.
  std::string damaged = *io::ReadFile(fs_, path);
  damaged.assign(damaged.size(), 'x');
  PutFile(fs_, path, damaged);
  EXPECT_EQ(*Read(false), "some text");
  EXPECT_EQ(*Read(true), packed);
  EXPECT_NE(served_->Now()->recent->Find(kFirst), nullptr);
  ASSERT_TRUE(served_->Refresh());
  EXPECT_FALSE(Read(false).ok());
  EXPECT_EQ(served_->Now()->recent->Find(kFirst), nullptr);
}

TEST(RecentPayloads, W15_KeepsPayloadsAsLongAsThereIsRoom) {
  RecentPayloads recent;
  RecentPayloads::Entry entry;
  entry.payload.assign(RecentPayloads::kPayloadBytesMax, 'x');
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < 300; ++i) {
    recent.Keep({201401, i}, entry);
    if (recent.Find({201401, i}) != nullptr) ++kept;
  }
  EXPECT_GT(kept, 200u);
  EXPECT_LE(kept * entry.payload.size(), RecentPayloads::kBytesMax);
  EXPECT_EQ(recent.Find({201401, 7})->payload, entry.payload);
}

TEST(RecentPayloads, W15_WhatHeadsTakeIsCounted) {
  RecentPayloads recent;
  RecentPayloads::Entry entry;
  entry.codings.assign(5, std::string(RecentPayloads::kBytesMax / 5, 'x'));
  recent.Keep(kFirst, entry);
  EXPECT_EQ(recent.Find(kFirst), nullptr);
}

}  // namespace
}  // namespace stele::access
