#include "archive/ledger.h"

#include <gtest/gtest.h>

#include <fstream>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "util/test_paths.h"

namespace stele::archive {
namespace {

constexpr Timestamp kNow{1'700'000'000'123};

class Ledger : public ::testing::Test {
 protected:
  Result<std::unique_ptr<LedgerWriter>> Open(io::FileSystem& fs) {
    events_.clear();
    return LedgerWriter::Open(fs, "ledger.warc", clock_, random_,
                              [&](const LedgerEvent& event, std::uint64_t end) -> Status {
                                events_.push_back(event);
                                ends_.push_back(end);
                                return {};
                              });
  }
  static LedgerEvent Event(int number) {
    LedgerEvent event;
    event.what = "test";
    event.Add("number", static_cast<std::uint64_t>(number));
    event.Add("name", "a % file\r\nwith: two lines");
    return event;
  }
  std::string Bytes() { return *io::ReadFile(fs_, "ledger.warc"); }

  io::MemoryFileSystem fs_;
  io::ManualClock clock_{kNow};
  io::SeededRandom random_{3};
  std::vector<LedgerEvent> events_;
  std::vector<std::uint64_t> ends_;
};

TEST_F(Ledger, TellsWhatWasAppended) {
  {
    auto ledger = Open(fs_);
    ASSERT_TRUE(ledger) << ledger.error().text;
    for (int i = 0; i < 3; ++i) {
      LedgerEvent event = Event(i);
      ASSERT_TRUE((*ledger)->Append(event));
      EXPECT_EQ(event.time, kNow);
    }
    EXPECT_EQ((*ledger)->end(), Bytes().size());
  }
  auto ledger = Open(fs_);
  ASSERT_TRUE(ledger);
  ASSERT_EQ(events_.size(), 3u);
  EXPECT_EQ(*events_[2].Number("number"), 2u);
  EXPECT_EQ(events_[2].Find("name"), "a % file\r\nwith: two lines");
  EXPECT_EQ(events_[2].time, kNow);
  EXPECT_EQ(ends_.back(), (*ledger)->end());

  // A reader goes on where it was.
  int count = 0;
  const Result<std::uint64_t> end =
      ReadLedger(fs_, "ledger.warc", ends_[0], [&](const LedgerEvent&, std::uint64_t) -> Status {
        ++count;
        return {};
      });
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(*end, (*ledger)->end());
  EXPECT_EQ(count, 2);
}

TEST_F(Ledger, SetsAsideWhatACrashLeft) {
  {
    auto ledger = Open(fs_);
    ASSERT_TRUE(ledger);
    LedgerEvent event = Event(1);
    ASSERT_TRUE((*ledger)->Append(event));
  }
  const std::string whole = Bytes();
  std::string more;
  {
    auto ledger = Open(fs_);
    LedgerEvent event = Event(2);
    ASSERT_TRUE((*ledger)->Append(event));
    more = Bytes().substr(whole.size());
  }
  for (std::size_t cut = 1; cut < more.size(); ++cut) {
    ASSERT_TRUE(io::ReplaceFile(fs_, "ledger.warc", whole + more.substr(0, cut)));
    auto ledger = Open(fs_);
    ASSERT_TRUE(ledger) << cut << ": " << ledger.error().text;
    EXPECT_EQ(events_.size(), 1u) << cut;
    EXPECT_EQ(*io::ReadFile(fs_, "ledger.warc.torn"), more.substr(0, cut));
    LedgerEvent event = Event(3);
    ASSERT_TRUE((*ledger)->Append(event));
    ledger = Open(fs_);
    ASSERT_TRUE(ledger);
    EXPECT_EQ(events_.size(), 2u) << cut;
  }
}

// What somebody knows to have been durable was not left by a crash.
TEST_F(Ledger, P3_DamageBeforeWhatWasAcknowledgedIsNotSetAside) {
  {
    auto ledger = Open(fs_);
    for (int i = 0; i < 2; ++i) {
      LedgerEvent event = Event(i);
      ASSERT_TRUE((*ledger)->Append(event));
    }
  }
  ASSERT_TRUE(Open(fs_));
  const std::uint64_t first = ends_[0];
  std::string bad = Bytes();
  bad[bad.size() - 9] ^= 1;
  ASSERT_TRUE(io::ReplaceFile(fs_, "ledger.warc", bad));
  const auto take = [](const LedgerEvent&, std::uint64_t) -> Status { return {}; };
  for (const std::uint64_t acknowledged : {first + 1, std::uint64_t{bad.size()}}) {
    const auto ledger = LedgerWriter::Open(fs_, "ledger.warc", clock_, random_, take, acknowledged);
    ASSERT_FALSE(ledger);
    EXPECT_EQ(ledger.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(ledger.error().text.find("restore it from a backup"), std::string::npos);
    EXPECT_FALSE(ReadLedger(fs_, "ledger.warc", 0, take, acknowledged));
    EXPECT_EQ(Bytes(), bad);
    EXPECT_FALSE(*fs_.Exists("ledger.warc.torn"));
  }
  EXPECT_EQ(*ReadLedger(fs_, "ledger.warc", 0, take, first), first);
  EXPECT_TRUE(LedgerWriter::Open(fs_, "ledger.warc", clock_, random_, take, first));
  EXPECT_EQ(Bytes().size(), first);
}

// A disk may leave any bytes where nothing was synced.
TEST_F(Ledger, KeepsAnEventWhenLineEndsStandBehindIt) {
  {
    auto ledger = Open(fs_);
    ASSERT_TRUE(ledger);
    LedgerEvent event = Event(1);
    ASSERT_TRUE((*ledger)->Append(event));
  }
  const std::string whole = Bytes();
  for (const std::string junk : {"\n", "\r\n", "\n\n|junk", "\r\n\r\nWARC/1.1\r\nWARC-Ty"}) {
    ASSERT_TRUE(io::ReplaceFile(fs_, "ledger.warc", whole + junk));
    auto ledger = Open(fs_);
    ASSERT_TRUE(ledger) << ledger.error().text;
    EXPECT_EQ(events_.size(), 1u) << junk;
    EXPECT_EQ(Bytes(), whole) << junk;
    EXPECT_EQ(*io::ReadFile(fs_, "ledger.warc.torn"), junk);
  }
}

TEST_F(Ledger, RefusesToGoOnAfterDamageInItsMiddle) {
  {
    auto ledger = Open(fs_);
    for (int i = 0; i < 3; ++i) {
      LedgerEvent event = Event(i);
      ASSERT_TRUE((*ledger)->Append(event));
    }
  }
  const std::string good = Bytes();
  ASSERT_TRUE(Open(fs_));
  const std::size_t last = ends_[1];
  int refused = 0;
  for (std::size_t at = 0; at < last; at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    ASSERT_TRUE(io::ReplaceFile(fs_, "ledger.warc", bad));
    auto ledger = Open(fs_);
    // A flip may be of no matter, in the name of a field that nobody reads; it is never one that
    // goes unnoticed and loses or changes an event.
    if (!ledger) {
      ++refused;
      EXPECT_EQ(ledger.error().code, ErrorCode::kCorrupt) << ledger.error().text;
      EXPECT_EQ(Bytes(), bad);
      continue;
    }
    ASSERT_EQ(events_.size(), 3u) << at;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(*events_[static_cast<std::size_t>(i)].Number("number"),
                static_cast<std::uint64_t>(i));
    }
  }
  EXPECT_GT(refused, 10);
}

TEST_F(Ledger, KeepsWhatItAcknowledgedWhenTheDiskFailsOrLosesPower) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    std::size_t acknowledged = 0;
    if (auto ledger = Open(fs)) {
      for (int i = 0; i < 4; ++i) {
        LedgerEvent event = Event(i);
        if (!(*ledger)->Append(event)) break;
        ++acknowledged;
      }
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    disk.Crash(dice);
    auto ledger = Open(disk);
    ASSERT_TRUE(ledger) << fail_at << ": " << ledger.error().text;
    EXPECT_GE(events_.size(), acknowledged) << fail_at;
    EXPECT_LE(events_.size(), acknowledged + 1) << fail_at;
    LedgerEvent event = Event(9);
    ASSERT_TRUE((*ledger)->Append(event)) << fail_at;
    if (acknowledged == 4) break;
  }
}

// What version 1 wrote is read for ever, and written the same.
TEST_F(Ledger, WritesTheGoldenFile) {
  {
    auto ledger = Open(fs_);
    LedgerEvent event = Event(7);
    ASSERT_TRUE((*ledger)->Append(event));
  }
  std::ifstream file(SourcePath("src/archive/golden/ledger-1.warc"), std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(Bytes(), golden);
}

}  // namespace
}  // namespace stele::archive
