#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "access/password.h"
#include "util/result.h"

namespace stele::access {

// Those who may log in, as a file has them; docs/access.md, "Who may look", shows it. A name has
// one password at most, and any number of tokens for programs.
class Users {
 public:
  struct User {
    std::optional<PasswordHash> password;
    std::vector<std::string> token_hashes;  // SHA-256, 32 bytes each
  };

  // Errors: kInvalid, naming the line.
  static Result<Users> Parse(std::string_view text);
  // What Parse() reads as the same users.
  std::string Format() const;

  // Requires: IsUserName(name).
  void SetPassword(const std::string& name, PasswordHash password);
  void AddToken(const std::string& name, std::string_view token);
  // False when there was none.
  bool Remove(std::string_view name);

  const std::map<std::string, User, std::less<>>& all() const { return users_; }
  // Null when there is none.
  const User* Find(std::string_view name) const;
  // Whose token it is; empty when it is nobody's. Takes as long whosever it is.
  std::string_view OwnerOf(std::string_view token) const;

 private:
  std::map<std::string, User, std::less<>> users_;
};

// Letters, digits, '.', '-', '_' and '@', 1 to 64 of them.
bool IsUserName(std::string_view name);

}  // namespace stele::access
