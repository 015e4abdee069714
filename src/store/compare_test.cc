#include "store/compare.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stele::store {
namespace {

// Gives its bytes a few at a time.
class DrippingSource final : public io::Source {
 public:
  explicit DrippingSource(std::string_view bytes) : base_(bytes) {}
  Result<std::size_t> Read(std::span<char> out) override {
    return base_.Read(out.first(std::min<std::size_t>(out.size(), 7)));
  }

 private:
  io::MemorySource base_;
};

Result<bool> Same(std::string_view a, std::string_view b) {
  io::MemorySource whole(a);
  DrippingSource dripping(b);
  return HaveSameBytes(whole, dripping);
}

TEST(Compare, TellsContentsApartWhereverTheyDiffer) {
  const std::string text(200'000, 'x');
  EXPECT_TRUE(*Same("", ""));
  EXPECT_TRUE(*Same(text, text));
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{65'535}, std::size_t{65'536}, text.size() - 1}) {
    std::string other = text;
    other[at] = 'y';
    EXPECT_FALSE(*Same(text, other)) << at;
  }
  EXPECT_FALSE(*Same(text, text.substr(1)));
  EXPECT_FALSE(*Same(text.substr(0, 65'536), text));
  EXPECT_FALSE(*Same("", "x"));
}

}  // namespace
}  // namespace stele::store
