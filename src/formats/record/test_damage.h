#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/record/test_reading.h"

// The promise of recovery, for the tests of every grammar: damage costs the records it touches and
// no other. A file is given as its records, each as it stands in the file.
namespace stele::record {

class DamageTrial {
 public:
  // `intact_bytes`: the first bytes of the file that are left alone, because without them it would
  // be no compressed file any more.
  DamageTrial(std::vector<std::string> records, GrammarMaker grammar, std::size_t intact_bytes)
      : records_(std::move(records)), grammar_(std::move(grammar)), intact_bytes_(intact_bytes) {
    for (const std::string& record : records_) file_ += record;
    whole_ = ReadAsFile(file_, grammar_);
    EXPECT_EQ(whole_.good.size(), records_.size());
  }

  void FlipEveryBit() const {
    for (std::size_t at = intact_bytes_; at < file_.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = file_;
        damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
        SCOPED_TRACE("bit " + std::to_string(bit) + " of byte " + std::to_string(at));
        ExpectTheOthers(damaged, at, 1);
      }
    }
  }

  void CutEverywhere(const std::vector<std::size_t>& counts) const {
    for (std::size_t at = intact_bytes_; at < file_.size(); ++at) {
      for (const std::size_t count : counts) {
        std::string damaged = file_;
        damaged.erase(at, count);
        SCOPED_TRACE(std::to_string(count) + " bytes cut out at " + std::to_string(at));
        ExpectTheOthers(damaged, at, count);
      }
    }
  }

  // The last record is cut off; `separator` bytes at its end do not count as a part of it.
  void Truncate(std::size_t separator) const {
    const std::size_t last = file_.size() - records_.back().size();
    for (std::size_t size = last + 1; size + separator < file_.size(); ++size) {
      const Reading reading = ReadAsFile(file_.substr(0, size), grammar_);
      EXPECT_EQ(reading.good.size(), records_.size() - 1) << size;
      ASSERT_EQ(reading.losses.size(), 1u) << size;
      EXPECT_EQ(reading.losses[0].begin, last);
      EXPECT_EQ(reading.losses[0].end, size);
    }
  }

  void InsertGarbage() const {
    const std::size_t last = file_.size() - records_.back().size();
    std::string damaged = file_;
    damaged.insert(last, 5000, '\x1f');
    const Reading reading = ReadAsFile(damaged, grammar_);
    EXPECT_EQ(reading.good, whole_.good);
    ASSERT_EQ(reading.losses.size(), 1u);
    EXPECT_EQ(reading.losses[0].begin, last);
    EXPECT_EQ(reading.losses[0].end, last + 5000);
  }

 private:
  void ExpectTheOthers(const std::string& damaged, std::size_t at, std::size_t count) const {
    const Reading reading = ReadAsFile(damaged, grammar_);
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const std::uint64_t begin = whole_.offsets[i];
      const bool hit = at < begin + records_[i].size() && at + count > begin;
      if (hit) continue;
      // A cut from one ARC head into the next makes one longer URL of two.
      EXPECT_THAT(reading.good, testing::Contains(testing::EndsWith(whole_.good[i])))
          << "record " << i << " is lost";
    }
  }

  std::vector<std::string> records_;
  GrammarMaker grammar_;
  std::size_t intact_bytes_;
  std::string file_;
  Reading whole_;
};

}  // namespace stele::record
