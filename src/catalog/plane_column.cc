#include "catalog/plane_column.h"

#include <algorithm>

namespace stele::catalog {

void PutPlanes(const std::vector<std::uint64_t>& values, std::string& head, std::string& high,
               std::string& low) {
  std::uint64_t smallest = 0;
  std::size_t planes = 0;
  if (!values.empty()) {
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    smallest = *min;
    while (planes < 8 && (*max - smallest) >> (8 * planes) != 0) ++planes;
  }
  PutVarint(head, smallest);
  PutVarint(head, planes);
  for (std::size_t plane = 0; plane < planes; ++plane) {
    std::string& out = plane + 1 == planes ? high : low;
    for (const std::uint64_t value : values) {
      out += static_cast<char>((value - smallest) >> (8 * plane) & 0xff);
    }
  }
}

bool PlaneColumn::TakeHead(ByteReader& head) {
  smallest_ = head.Varint();
  const std::uint64_t planes = head.Varint();
  planes_ = planes <= 8 ? static_cast<std::size_t>(planes) : 0;
  return planes <= 8;
}

void PlaneColumn::TakeHigh(ByteReader& high, std::uint64_t count) {
  if (planes_ > 0) high_ = high.Bytes(count);
}

void PlaneColumn::TakeLow(ByteReader& low, std::uint64_t count) {
  if (planes_ > 1) low_ = low.Bytes((planes_ - 1) * count);
}

}  // namespace stele::catalog
