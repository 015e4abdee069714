#include "cli/two_sides.h"

#include <fmt/format.h>

#include "archive/moment.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

using archive::CaptureQuery;

CaptureQuery InRun(std::uint32_t run, const catalog::Selection& what) {
  CaptureQuery query;
  query.where.what = what;
  query.runs = {run};
  return query;
}

CaptureQuery AtMoment(Timestamp moment, const catalog::Selection& what) {
  CaptureQuery query;
  query.where.what = what;
  query.where.pick = catalog::LocationQuery::Pick::kBefore;
  query.where.from = moment;
  return query;
}

Result<std::uint32_t> RunOf(const std::string& text, const archive::Holdings& holdings) {
  const std::optional<std::uint64_t> number = ParseDecimal(text);
  for (const auto& [run, about] : holdings.runs()) {
    if (run == number) return run;
  }
  return Error{ErrorCode::kInvalid,
               fmt::format("there is no run {}; stele info lists the runs", text)};
}

Result<Timestamp> MomentOf(std::string_view option, const std::string& text) {
  if (const std::optional<archive::Moments> moments = archive::MomentsOf(text))
    return moments->last;
  return Error{ErrorCode::kInvalid,
               fmt::format("{} {} is no time like 20140126 or 2014-01-26T20:06:24Z", option, text)};
}

Result<TwoSides> RunSides(const std::vector<std::string>& runs, const archive::Holdings& holdings,
                          const catalog::Selection& what) {
  if (runs.size() != 2) {
    return Error{ErrorCode::kInvalid, "two runs are compared: give --run twice"};
  }
  Result<std::uint32_t> before = RunOf(runs[0], holdings);
  if (!before) return before.error();
  Result<std::uint32_t> after = RunOf(runs[1], holdings);
  if (!after) return after.error();
  return TwoSides{InRun(*before, what), InRun(*after, what)};
}

}  // namespace

std::vector<Option> WithSideOptions(std::vector<Option> options) {
  const std::vector<Option> sides = {
      Repeatable({"--run", "N", "One of the two runs to compare, the older one first"}),
      {"--from", "TIME", "Or: as it was then, at the last capture at or before that time"},
      {"--to", "TIME", "And as it was then; 2014 means the end of the year", "the latest"}};
  options.insert(options.begin(), sides.begin(), sides.end());
  return options;
}

Result<std::optional<TwoSides>> SidesOf(const Arguments& arguments,
                                        const archive::Holdings& holdings,
                                        const catalog::Selection& what) {
  const std::optional<std::string> from = arguments.Get("--from");
  const std::optional<std::string> to = arguments.Get("--to");
  if (arguments.Has("--run")) {
    if (from || to) {
      return Error{ErrorCode::kInvalid,
                   "runs or times are compared: leave out --run, or the times"};
    }
    Result<TwoSides> sides = RunSides(arguments.GetAll("--run"), holdings, what);
    if (!sides) return sides.error();
    return std::optional(*std::move(sides));
  }
  if (!from && !to) return std::optional<TwoSides>();
  if (!from) return Error{ErrorCode::kInvalid, "--to goes with --from"};
  Result<Timestamp> before = MomentOf("--from", *from);
  if (!before) return before.error();
  Result<Timestamp> after = to ? MomentOf("--to", *to) : catalog::kTimeEnd;
  if (!after) return after.error();
  return std::optional(TwoSides{AtMoment(*before, what), AtMoment(*after, what)});
}

Result<TwoSides> LastTwoRuns(const archive::Holdings& holdings, const catalog::Selection& what) {
  std::vector<std::uint32_t> last;  // the latest first
  for (auto at = holdings.runs().rbegin(); at != holdings.runs().rend() && last.size() < 2; ++at) {
    if (holdings.IsComparable(at->second)) last.push_back(at->first);
  }
  if (last.size() < 2) {
    return Error{ErrorCode::kInvalid,
                 "there are no two runs to compare that ended and were not taken down; name two "
                 "with --run, or two moments with --from and --to"};
  }
  return TwoSides{InRun(last[1], what), InRun(last[0], what)};
}

}  // namespace stele::cli
