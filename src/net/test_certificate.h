#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "net/test_peers.h"

namespace stele::net {

// A certificate that signed itself, for `name` ("IP:127.0.0.1", "DNS:a.test") only.
class TestCertificate {
 public:
  explicit TestCertificate(const std::string& name) {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("net_tls_" + std::to_string(getpid()) + "_" +
               std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    std::filesystem::create_directories(folder_);
    const std::string made =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=test -addext subjectAltName=" +
        name + " -keyout " + key() + " -out " + certificate() + " 2>&1";
    const CommandOutcome outcome = RunCommand(made);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  }
  ~TestCertificate() { std::filesystem::remove_all(folder_); }
  TestCertificate(const TestCertificate&) = delete;
  TestCertificate& operator=(const TestCertificate&) = delete;

  std::string certificate() const { return folder_ / "cert.pem"; }
  std::string key() const { return folder_ / "key.pem"; }
  std::string missing() const { return folder_ / "none.pem"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace stele::net
