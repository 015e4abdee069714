// Any bytes as robots.txt, its first line as the target: reading ends, nothing is forbidden without
// a rule, the rule stands in the file, and robots.txt itself is allowed.
#include <cstdint>
#include <string_view>

#include "formats/robots/robots.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using stele::robots::Robots;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  const std::string_view target = input.substr(0, line);
  const std::string_view text = line == std::string_view::npos ? "" : input.substr(line + 1);
  const Robots robots = Robots::Parse(text, "stele");
  const Robots::Verdict verdict = robots.Judge(target);
  Check(verdict.allowed || !verdict.rule.empty());
  Check(verdict.rule.empty() || text.find(verdict.rule) != std::string_view::npos);
  Check(robots.Allows("/robots.txt"));
  (void)stele::robots::ParsePageRobots(input, "stele");
  return 0;
}
