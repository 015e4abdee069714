#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "store/remote/volume_service.h"
#include "store/remote/wire.h"

namespace stele::store {

// One request under way. An answer that the client does not take is no concern of the volume's.
struct VolumeService::Call {
  static constexpr std::string_view kJson = "application/json";

  net::Request& request;
  net::ResponseWriter& response;
  Volume* volume = nullptr;
  MemberVolume* member = nullptr;    // the same, as a member of its instance
  const OwnerView* owner = nullptr;  // null: the administrator
  wire::Query query = {};
  std::uint64_t epoch = 0;  // that the client knows; 0: it did not say

  std::string_view method() const { return request.head().method; }

  net::ResponseStart StartOf(int status, std::string_view type) const {
    net::ResponseStart start;
    start.status = status;
    if (!type.empty()) start.fields.push_back({"Content-Type", std::string(type)});
    if (volume != nullptr) {
      start.fields.push_back(
          {std::string(wire::kStateHeader), std::string(VolumeStateName(volume->state()))});
    }
    return start;
  }
  void Reply(int status, std::string_view json) {
    static_cast<void>(response.Reply(StartOf(status, kJson), json).ok());
  }
  void Fail(const Error& error) {
    if (IsQuotaError(error)) return Reply(413, wire::ErrorJson("quota", error.text));
    Reply(wire::StatusOf(error.code), wire::ErrorJson(wire::CodeName(error.code), error.text));
  }
  void ReplyText(std::string_view type, std::string_view text) {
    static_cast<void>(response.Reply(StartOf(200, type), text).ok());
  }
  void Done(const Status& status) {
    if (!status) return Fail(status.error());
    static_cast<void>(response.Reply(StartOf(204, ""), "").ok());
  }
  // Errors: kInvalid for one that is longer; others are the client's, and the server answers for
  // them.
  Result<std::string> ReadBody(std::size_t size_max);
  void FailBody(const Error& error) {
    if (error.code == ErrorCode::kInvalid) Fail(error);
  }
  void RefuseMethod(std::string_view allowed) {
    net::ResponseStart start = StartOf(405, kJson);
    start.fields.push_back({"Allow", std::string(allowed)});
    const std::string text = fmt::format("use {}", allowed);
    static_cast<void>(response.Reply(start, wire::ErrorJson("invalid", text)).ok());
  }
};

}  // namespace stele::store
