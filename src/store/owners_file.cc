#include "store/owners_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "util/ascii.h"
#include "util/digest.h"

namespace stele::store {
namespace {

constexpr std::string_view kHashed = "sha256:";
constexpr std::string_view kPlain = "token:";
constexpr std::string_view kBytes = "bytes=";
constexpr std::string_view kReferences = "references=";
constexpr std::size_t kHashSize = 32;

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::string HexOf(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02X}", static_cast<unsigned char>(c));
  return hex;
}

// The SHA-256 of the token that a word gives.
Result<std::string> HashFrom(std::string_view word) {
  if (word.starts_with(kPlain)) {
    const std::string_view token = word.substr(kPlain.size());
    if (token.size() < kTokenLengthMin) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("the token has less than {} characters", kTokenLengthMin)};
    }
    return std::string(DigestOf(DigestAlgorithm::kSha256, token).bytes());
  }
  const std::string_view hex = word.substr(std::min(kHashed.size(), word.size()));
  const bool good = word.starts_with(kHashed) && hex.size() == 2 * kHashSize &&
                    std::all_of(hex.begin(), hex.end(), IsAsciiHexDigit);
  if (!good) {
    return Error{ErrorCode::kInvalid,
                 "the second word must be token:TEXT or sha256: and 64 hexadecimal digits"};
  }
  std::string hash;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    hash += static_cast<char>(HexValue(hex[i]) * 16 + HexValue(hex[i + 1]));
  }
  return hash;
}

Status ReadLimit(std::string_view word, Quota& quota) {
  for (const auto& [name, limit] : {std::pair{kBytes, &quota.content_bytes_max},
                                    std::pair{kReferences, &quota.references_max}}) {
    if (!word.starts_with(name)) continue;
    const std::optional<std::uint64_t> value = ParseDecimal(word.substr(name.size()));
    if (!value || *value == 0 || *limit != 0) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("{} must stand once, with a number above 0", name)};
    }
    *limit = *value;
    return {};
  }
  return Error{ErrorCode::kInvalid, "after owner and token come bytes=N and references=N only"};
}

Result<OwnerRule> RuleFrom(std::string_view line) {
  if (!std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
    return Error{ErrorCode::kInvalid, "only printable ASCII characters and spaces are read"};
  }
  const std::vector<std::string_view> words = Words(line);
  if (words.size() < 2 || !IsOwner(words[0])) {
    return Error{ErrorCode::kInvalid,
                 "a line is OWNER TOKEN [bytes=N] [references=N], OWNER of 1 to 64 characters"};
  }
  Result<std::string> hash = HashFrom(words[1]);
  if (!hash) return hash.error();
  OwnerRule rule{std::string(words[0]), *std::move(hash), {}};
  for (std::size_t i = 2; i < words.size(); ++i) {
    const Status read = ReadLimit(words[i], rule.quota);
    if (!read) return read.error();
  }
  return rule;
}

}  // namespace

Result<std::vector<OwnerRule>> ParseOwners(std::string_view text) {
  std::vector<OwnerRule> rules;
  std::size_t number = 0;
  const auto wrong = [&](std::string_view what) {
    return Error{ErrorCode::kInvalid, fmt::format("owners file, line {}: {}", number, what)};
  };
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::vector<std::string_view> words = Words(line);
    if (words.empty() || words.front().starts_with('#')) continue;
    Result<OwnerRule> rule = RuleFrom(line);
    if (!rule) return wrong(rule.error().text);
    for (const OwnerRule& known : rules) {
      if (known.owner == rule->owner) return wrong("this owner stands in a line above");
      if (known.token_sha256 == rule->token_sha256) return wrong("another owner has this token");
    }
    rules.push_back(*std::move(rule));
  }
  return rules;
}

std::string FormatOwners(const std::vector<OwnerRule>& rules) {
  std::string text;
  for (const OwnerRule& rule : rules) {
    text += fmt::format("{} {}{}", rule.owner, kHashed, HexOf(rule.token_sha256));
    if (rule.quota.content_bytes_max > 0) {
      text += fmt::format(" {}{}", kBytes, rule.quota.content_bytes_max);
    }
    if (rule.quota.references_max > 0) {
      text += fmt::format(" {}{}", kReferences, rule.quota.references_max);
    }
    text += '\n';
  }
  return text;
}

}  // namespace stele::store
