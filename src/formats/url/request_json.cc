#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "formats/url/request_body.h"
#include "formats/url/request_key.h"
#include "util/ascii.h"

// Values are written as Python prints them (True, None, 1e+16), because the tools that defined
// these keys are Python programs.
namespace stele::url {
namespace {

using Json = nlohmann::json;

// The shortest digits that give the number back, in Python's notation.
std::string PythonFloat(double value) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  int exponent = 0;
  const bool negative = text[e + 1] == '-';
  for (char c : text.substr(e + 2)) exponent = exponent * 10 + (c - '0');
  if (negative) exponent = -exponent;
  if (exponent < -4 || exponent >= 16) return std::string(text);
  const auto fixed =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  std::string out(buffer, fixed);
  if (out.find('.') == out.npos) out += ".0";
  return out;
}

// Collects name=value pairs while nlohmann's parser reads. It calls back; nothing is built.
class Flattener final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return Leaf("None"); }
  bool boolean(bool value) override { return Leaf(value ? "True" : "False"); }
  bool number_integer(number_integer_t value) override { return Leaf(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Leaf(std::to_string(value)); }
  bool number_float(number_float_t value, const string_t& text) override {
    // An integer too large for 64 bits comes here; Python keeps all its digits.
    const bool integer = text.find_first_of(".eE") == text.npos;
    return Leaf(integer ? text : PythonFloat(value));
  }
  bool string(string_t& value) override { return Leaf(value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& name) override {
    names_.back() = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  std::string Query() const {
    std::string out;
    for (const auto& [name, value] : pairs_) {
      if (!out.empty()) out.push_back('&');
      AppendFormEncoded(out, name);
      out.push_back('=');
      AppendFormEncoded(out, value);
    }
    return out;
  }

 private:
  // What is inside has the name of the container, until a member gives it its own.
  bool Enter() {
    if (names_.size() >= kMaxJsonBodyDepth) return false;
    names_.push_back(names_.empty() ? std::string() : names_.back());
    return true;
  }
  bool Leave() {
    names_.pop_back();
    return true;
  }

  bool Leaf(std::string value) {
    if (names_.empty() || names_.back().empty()) return true;
    std::string name = names_.back();
    if (place_.contains(name)) {
      const int copy = ++copies_[name] + 1;
      name += '.';
      name += std::to_string(copy);
      name += '_';
    }
    const auto [place, added] = place_.try_emplace(name, pairs_.size());
    if (added) {
      pairs_.emplace_back(std::move(name), std::move(value));
    } else {
      pairs_[place->second].second = std::move(value);
    }
    return true;
  }

  std::vector<std::string> names_;
  std::vector<std::pair<std::string, std::string>> pairs_;
  std::unordered_map<std::string, std::size_t> place_;
  std::unordered_map<std::string, int> copies_;
};

bool Read(std::string_view json, Flattener& into) {
  return Json::sax_parse(json.begin(), json.end(), &into);
}

}  // namespace

std::optional<std::string> JsonAsQuery(std::string_view json) {
  if (json.size() > kMaxJsonBodyBytes) return std::nullopt;
  Flattener whole;
  if (Read(json, whole)) return whole.Query();
  if (json.find('\n') == json.npos) return std::nullopt;
  Flattener lines;
  for (std::string_view line : Split(json, '\n')) {
    if (!Read(line, lines)) return std::nullopt;
  }
  return lines.Query();
}

}  // namespace stele::url
