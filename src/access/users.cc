#include "access/users.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/digest.h"
#include "util/secret.h"

namespace stele::access {
namespace {

constexpr std::string_view kPassword = "scrypt:";
constexpr std::string_view kToken = "sha256:";
constexpr std::size_t kNameMax = 64;

}  // namespace

bool IsUserName(std::string_view name) {
  constexpr std::string_view kMarks = ".-_@";
  return !name.empty() && name.size() <= kNameMax &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return IsAsciiAlnum(c) || kMarks.find(c) != std::string_view::npos;
         });
}

Result<Users> Users::Parse(std::string_view text) {
  Users users;
  std::size_t number = 0;
  const auto wrong = [&](std::string_view what) {
    return Error{ErrorCode::kInvalid, fmt::format("users file, line {}: {}", number, what)};
  };
  for (const std::string_view raw : Split(text, '\n')) {
    ++number;
    const std::string_view line = TrimSpace(raw);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    const std::string_view name = line.substr(0, space);
    if (space == std::string_view::npos || !IsUserName(name)) {
      return wrong("a line is NAME scrypt:… or NAME sha256:…, as stele user makes them");
    }
    const std::string_view secret = TrimSpace(line.substr(space));
    User& user = users.users_[std::string(name)];
    if (secret.starts_with(kPassword)) {
      Result<PasswordHash> hash = PasswordHash::FromText(secret.substr(kPassword.size()));
      if (!hash) return wrong(hash.error().text);
      if (user.password) return wrong("this user has a password in a line above");
      user.password = *std::move(hash);
    } else {
      const std::optional<std::string> hash =
          secret.starts_with(kToken) ? HexDecode(secret.substr(kToken.size())) : std::nullopt;
      if (!hash || hash->size() != DigestSize(DigestAlgorithm::kSha256)) {
        return wrong("behind the name stands scrypt:… or sha256: and 64 hexadecimal digits");
      }
      user.token_hashes.push_back(*hash);
    }
  }
  return users;
}

std::string Users::Format() const {
  std::string text;
  for (const auto& [name, user] : users_) {
    if (user.password) text += fmt::format("{} {}{}\n", name, kPassword, user.password->ToText());
    for (const std::string& hash : user.token_hashes) {
      text += fmt::format("{} {}{}\n", name, kToken, HexEncode(hash));
    }
  }
  return text;
}

void Users::SetPassword(const std::string& name, PasswordHash password) {
  users_[name].password = std::move(password);
}

void Users::AddToken(const std::string& name, std::string_view token) {
  users_[name].token_hashes.emplace_back(DigestOf(DigestAlgorithm::kSha256, token).bytes());
}

bool Users::Remove(std::string_view name) {
  const auto found = users_.find(name);
  if (found == users_.end()) return false;
  users_.erase(found);
  return true;
}

const Users::User* Users::Find(std::string_view name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : &found->second;
}

std::string_view Users::OwnerOf(std::string_view token) const {
  const Digest hash = DigestOf(DigestAlgorithm::kSha256, token);
  std::string_view owner;
  for (const auto& [name, user] : users_) {
    for (const std::string& known : user.token_hashes) {
      if (SameSecret(hash.bytes(), known)) owner = name;
    }
  }
  return owner;
}

}  // namespace stele::access
