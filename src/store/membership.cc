#include "store/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "store/content_key.h"
#include "util/ascii.h"
#include "util/rabin.h"

namespace stele::store {
namespace {

constexpr std::string_view kMagic = "STELE-MEMBER 1";
constexpr std::array<std::string_view, 3> kSettled = {"no", "self", "all"};
// What can be no name of a file is no name of a signature function either.
constexpr std::size_t kSignatureNameMax = 64;

// Takes "name value" off the lines of `text`. Nothing when the next line is another one.
std::optional<std::string_view> TakeLine(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view line = text.substr(0, end);
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  if (!line.starts_with(' ')) return std::nullopt;
  text.remove_prefix(end + 1);
  return line.substr(1);
}

bool IsSignatureName(std::string_view name) {
  return !name.empty() && name.size() <= kSignatureNameMax &&
         std::all_of(name.begin(), name.end(), IsAsciiAlnum);
}

}  // namespace

std::string_view SettledName(Membership::Settled settled) {
  return kSettled[static_cast<std::size_t>(settled)];
}

std::optional<Membership::Settled> SettledByName(std::string_view name) {
  const auto found = std::find(kSettled.begin(), kSettled.end(), name);
  if (found == kSettled.end()) return std::nullopt;
  return static_cast<Membership::Settled>(found - kSettled.begin());
}

std::string FormatMembership(const Membership& membership) {
  const Composition& composition = membership.composition;
  std::string body = fmt::format("epoch {}\nsettled {}\nsignature {}\nplacement {}\n",
                                 composition.epoch, SettledName(membership.settled),
                                 composition.signature, PlacementName(composition.placement));
  for (const std::string& volume : composition.volumes) body += "volume " + volume + '\n';
  body += '\n' + membership.connector;
  return fmt::format("{}\nsum {:016X}\n{}", kMagic, RabinFingerprint(body), body);
}

Result<Membership> ParseMembership(std::string_view text) {
  const Error error{ErrorCode::kCorrupt, "it is damaged or of a later version"};
  const std::string first = std::string(kMagic) + '\n';
  if (!text.starts_with(first)) return error;
  text.remove_prefix(first.size());
  const auto sum = TakeLine(text, "sum");
  if (!sum || *sum != fmt::format("{:016X}", RabinFingerprint(text))) return error;
  Membership membership;
  Composition& composition = membership.composition;
  const auto epoch = ParseDecimal(TakeLine(text, "epoch").value_or(""));
  const auto settled = SettledByName(TakeLine(text, "settled").value_or(""));
  const auto signature = TakeLine(text, "signature");
  const auto placement = PlacementByName(TakeLine(text, "placement").value_or(""));
  if (!epoch || *epoch == 0 || !settled || !placement) return error;
  if (!signature || !IsSignatureName(*signature)) return error;
  composition.epoch = *epoch;
  composition.signature = *signature;
  composition.placement = *placement;
  membership.settled = *settled;
  while (const auto volume = TakeLine(text, "volume")) {
    const std::vector<std::string>& known = composition.volumes;
    if (!IsVolumeName(*volume)) return error;
    if (std::find(known.begin(), known.end(), *volume) != known.end()) return error;
    composition.volumes.emplace_back(*volume);
  }
  if (composition.volumes.empty() || !text.starts_with('\n')) return error;
  membership.connector = text.substr(1);
  return membership;
}

Result<Membership> ReadMembership(io::FileSystem& fs, const std::string& volume_directory) {
  const std::string path = volume_directory + "/member";
  const Result<std::string> text = io::ReadFile(fs, path);
  if (!text && text.error().code == ErrorCode::kNotFound) return Membership{};
  if (!text) return text.error();
  Result<Membership> membership = ParseMembership(*text);
  if (membership) return membership;
  return Error{ErrorCode::kCorrupt,
               fmt::format("{}: {}; take it and the folder directory beside it away, raise the "
                           "epoch of the instance and let its homes be told again",
                           path, membership.error().text)};
}

Status WriteMembership(io::FileSystem& fs, const std::string& volume_directory,
                       const Membership& membership) {
  return io::ReplaceFile(fs, volume_directory + "/member", FormatMembership(membership));
}

}  // namespace stele::store
