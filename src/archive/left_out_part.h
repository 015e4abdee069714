#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stele::archive {

class Holdings;
struct Container;

// An archive file in a WACZ file that was here when the WACZ file came: its captures are listed
// where they were, and not again.
struct LeftOutPart {
  std::string sha256;  // in hexadecimal digits
  std::string name;    // in the WACZ file

  // "SHA256 NAME", as the ledger has it.
  std::string Text() const;
  // Nothing when it is none.
  static std::optional<LeftOutPart> Parse(std::string_view text);

  friend bool operator==(const LeftOutPart&, const LeftOutPart&) = default;
};

// Whether a container that is not here yet leaves out all of its parts that are.
bool LeavesOutAllThatIsHere(const Holdings& holdings, const Container& container);

// Whether a container still has the bytes of a part that it left out, though the file that they
// were listed in was purged.
bool HoldsPurgedPart(const Holdings& holdings, const Container& container);

}  // namespace stele::archive
