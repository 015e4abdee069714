#pragma once

#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "util/json.h"

namespace stele::access {

// Writes one JSON value, piece by piece; commas come by themselves. Calls must be in the order of
// the text that is meant: a value, or in an object a name and a value.
class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }

  JsonWriter& Name(std::string_view name) {
    Separate();
    AppendJsonString(text_, name);
    text_ += ": ";
    fresh_ = true;
    return *this;
  }
  JsonWriter& Text(std::string_view value) {
    Separate();
    AppendJsonString(text_, value);
    return *this;
  }
  JsonWriter& Number(std::integral auto value) {
    Separate();
    text_ += fmt::to_string(value);
    return *this;
  }
  JsonWriter& Bool(bool value) { return Word(value ? "true" : "false"); }
  JsonWriter& Null() { return Word("null"); }

  // A value that is JSON already.
  JsonWriter& Raw(std::string_view json) { return Word(json); }

  // A name with its value.
  JsonWriter& Member(std::string_view name, std::string_view value) {
    return Name(name).Text(value);
  }
  JsonWriter& Member(std::string_view name, const char* value) { return Name(name).Text(value); }
  JsonWriter& Member(std::string_view name, bool value) { return Name(name).Bool(value); }
  template <std::integral Integer>
  JsonWriter& Member(std::string_view name, Integer value) {
    return Name(name).Number(value);
  }
  JsonWriter& Optional(std::string_view name, const std::optional<std::string>& value) {
    Name(name);
    return value ? Text(*value) : Null();
  }

  // The text, with a line end.
  std::string Take() { return std::move(text_) + '\n'; }

 private:
  JsonWriter& Open(char c) {
    Separate();
    text_ += c;
    fresh_ = true;
    return *this;
  }
  JsonWriter& Close(char c) {
    text_ += c;
    fresh_ = false;
    return *this;
  }
  JsonWriter& Word(std::string_view word) {
    Separate();
    text_ += word;
    return *this;
  }
  void Separate() {
    if (!fresh_) text_ += ", ";
    fresh_ = false;
  }

  std::string text_;
  bool fresh_ = true;  // nothing before needs a comma
};

}  // namespace stele::access
