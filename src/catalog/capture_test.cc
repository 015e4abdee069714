#include "catalog/capture.h"

#include <gtest/gtest.h>

#include "catalog/test_captures.h"

namespace stele::catalog {
namespace {

TEST(Capture, I6_ABatchIsTheMonthOfTheCapture) {
  EXPECT_EQ(BatchOf(*ParseDigits("20040501000000")), 200405u);
  EXPECT_EQ(BatchOf({ParseDigits("20040501000000")->milliseconds - 1}), 200404u);
  EXPECT_EQ(BatchOf(*ParseDigits("19691231235959")), 196912u);
  EXPECT_EQ(BatchOf(*ParseDigits("20001231235959")), 200012u);
}

TEST(Capture, I6_IdsSortByBatchThenSerial) {
  EXPECT_LT((CaptureId{200405, 7}), (CaptureId{200405, 8}));
  EXPECT_LT((CaptureId{200405, 8}), (CaptureId{200406, 0}));
}

TEST(Capture, I6_RowsComeBack) {
  CaptureMaker maker(1);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Capture capture = maker.Make({200405, i * 1000});
    std::string row;
    AppendCaptureRow(capture, row);
    const Result<Capture> again = ParseCaptureRow(row);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, capture);
    for (std::size_t size = 0; size < row.size(); ++size) {
      EXPECT_FALSE(ParseCaptureRow(std::string_view(row).substr(0, size)));
    }
    EXPECT_FALSE(ParseCaptureRow(row + "x"));
  }
}

TEST(Capture, I6_RowsThatAreTooLongAreRefused) {
  Capture capture;
  const std::string url(kCaptureRowBytesMax - 200, 'u');
  capture.url = url;
  EXPECT_TRUE(CheckCapture(capture));
  std::string row;
  AppendCaptureRow(capture, row);
  EXPECT_LE(row.size(), kCaptureRowBytesMax);
  capture.type = "t";
  EXPECT_EQ(CheckCapture(capture).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace stele::catalog
