#pragma once

#include <optional>
#include <vector>

#include "archive/archive_view.h"
#include "archive/capture_query.h"
#include "cli/command.h"

// The two states of an archive that a person wants compared.
namespace stele::cli {

struct TwoSides {
  archive::CaptureQuery before;
  archive::CaptureQuery after;
};

// --run twice, and --from with --to.
std::vector<Option> WithSideOptions(std::vector<Option> options);

// What these say, for some URLs; nothing where none of them is given. Errors: kInvalid, for the
// person who typed it.
Result<std::optional<TwoSides>> SidesOf(const Arguments& arguments,
                                        const archive::Holdings& holdings,
                                        const catalog::Selection& what);

// The last two runs that Holdings::IsComparable(). Errors: kInvalid when there are no two.
Result<TwoSides> LastTwoRuns(const archive::Holdings& holdings, const catalog::Selection& what);

}  // namespace stele::cli
