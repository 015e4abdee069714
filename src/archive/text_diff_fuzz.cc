#include "archive/text_diff_testing.h"
#include "util/check.h"

// Two texts with a zero byte between them; the first byte limits the edits. Whatever they are, the
// edits lead from one to the other.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele;
  using namespace stele::archive;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t middle = std::min(bytes.find('\0'), bytes.size());
  const TextLines before = LinesOf(bytes.substr(0, middle));
  const TextLines after = LinesOf(bytes.substr(std::min(middle + 1, bytes.size())));
  const std::vector<LineEdit> edits = DiffLines(before, after, data[0]);
  Check(archive::testing::Edited(before, after, edits) == after);
  std::size_t in_hunks = 0;
  for (const DiffHunk& hunk : HunksOf(edits, before.size(), data[0] % 5)) {
    Check(hunk.range.before_end <= before.size() && hunk.range.after_end <= after.size());
    in_hunks += hunk.edits.size();
  }
  Check(in_hunks == edits.size());
  return 0;
}
