#include "store/remote/wire_members.h"

#include <fmt/format.h>

#include "util/ascii.h"

namespace stele::store::wire {
namespace {

// Calls `take` with the parts of each line; false: the line is none of ours.
template <typename Take>
Status ForLines(std::string_view text, std::string_view wanted, const Take& take) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const bool good =
        end != std::string_view::npos && line <= kLinesMax && take(Split(text.substr(0, end), ' '));
    if (!good) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("line {} must be {}, of at most {} lines", line, wanted, kLinesMax)};
    }
    text.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace

std::string FormatSignatures(std::span<const Signature> signatures) {
  std::string text;
  for (const Signature& signature : signatures) text += signature.Hex() + '\n';
  return text;
}

std::string FormatOwed(const std::vector<OwedStub>& owed) {
  std::string text;
  for (const OwedStub& stub : owed) {
    text += stub.signature.Hex();
    for (const std::string& holder : stub.holders) text += ' ' + holder;
    text += '\n';
  }
  return text;
}

std::string FormatMoves(const std::vector<Directory::Move>& moves) {
  std::string text;
  for (const Directory::Move& move : moves) text += move.from.Text() + ' ' + move.to.Text() + '\n';
  return text;
}

Result<std::vector<Signature>> ParseSignatures(std::string_view text) {
  std::vector<Signature> signatures;
  const Status read =
      ForLines(text, "a signature", [&](const std::vector<std::string_view>& parts) {
        const std::optional<Signature> signature = Signature::Parse(parts.front());
        if (signature) signatures.push_back(*signature);
        return signature.has_value() && parts.size() == 1;
      });
  if (!read) return read.error();
  return signatures;
}

Result<std::vector<OwedStub>> ParseOwed(std::string_view text) {
  std::vector<OwedStub> owed;
  const Status read =
      ForLines(text, "a signature and volumes", [&](const std::vector<std::string_view>& parts) {
        const std::optional<Signature> signature = Signature::Parse(parts.front());
        if (!signature) return false;
        OwedStub stub{*signature, {}};
        for (std::size_t i = 1; i < parts.size(); ++i) {
          if (!IsVolumeName(parts[i])) return false;
          stub.holders.emplace_back(parts[i]);
        }
        owed.push_back(std::move(stub));
        return true;
      });
  if (!read) return read.error();
  return owed;
}

Result<std::vector<Directory::Move>> ParseMoves(std::string_view text) {
  std::vector<Directory::Move> moves;
  const Status read = ForLines(text, "two keys", [&](const std::vector<std::string_view>& parts) {
    if (parts.size() != 2) return false;
    auto from = ContentKey::Parse(parts[0]);
    auto to = ContentKey::Parse(parts[1]);
    if (!from || !to) return false;
    moves.push_back({*std::move(from), *std::move(to)});
    return true;
  });
  if (!read) return read.error();
  return moves;
}

}  // namespace stele::store::wire
