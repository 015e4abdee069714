#include "crawl/certificates.h"

#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/digest.h"

namespace stele::crawl {
namespace {

// Chains that are remembered as written; then all are written once more.
constexpr std::size_t kWrittenMax = 100'000;

std::string Fingerprint(std::string_view bytes) {
  return DigestOf(DigestAlgorithm::kSha256, bytes).Labelled();
}

}  // namespace

std::vector<std::string> CertificatesOf(std::string_view pem) {
  std::vector<std::string> certificates;
  for (const std::string_view line : Split(pem, '\n')) {
    const std::string_view text = TrimSpace(line);
    if (text.starts_with("-----BEGIN")) {
      certificates.emplace_back();
    } else if (!certificates.empty() && !text.starts_with("-----")) {
      certificates.back() += text;
    }
  }
  return certificates;
}

std::vector<std::pair<std::string, std::string>> Certificates::FieldsFor(const net::TlsFacts* tls) {
  std::vector<std::pair<std::string, std::string>> fields;
  if (tls == nullptr) return fields;
  std::vector<std::string> chain = CertificatesOf(tls->chain);
  if (!chain.empty()) {
    fields.emplace_back("tlsCertificate", Fingerprint(Base64Decode(chain.front()).value_or("")));
  }
  if (!tls->distrust.empty()) fields.emplace_back("tlsDistrust", tls->distrust);
  {
    const std::lock_guard lock(mutex_);
    if (written_.size() >= kWrittenMax) written_.clear();
    if (!written_.insert(Fingerprint(tls->chain)).second) return fields;
  }
  for (std::string& certificate : chain) fields.emplace_back("tlsChain", std::move(certificate));
  return fields;
}

}  // namespace stele::crawl
