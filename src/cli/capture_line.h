#pragma once

#include <string>
#include <string_view>

#include "catalog/capture.h"

// A capture as commands show it.
namespace stele::cli {

// One line for people, without its end.
std::string CaptureText(const catalog::Capture& row);
// A JSON object.
std::string CaptureJson(const catalog::Capture& row, std::string_view key);

}  // namespace stele::cli
