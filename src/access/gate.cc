#include "access/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/secret.h"

namespace stele::access {
namespace {

constexpr std::size_t kKeySize = 32;
constexpr std::int64_t kLookMilliseconds = 2000;
constexpr std::int64_t kTicketSeconds = 600;
constexpr std::int64_t kCookieSeconds = 12 * 3600;
constexpr std::string_view kTicketPurpose = "enter";
constexpr std::string_view kCookiePurpose = "stay";
constexpr std::string_view kForwarded = "X-Forwarded-For";
// Passwords cost time and memory on purpose: so many are tried at once, and so many wait for that.
constexpr int kTriesAtOnce = 2;
constexpr int kTriesMax = 8;
constexpr std::size_t kVerifiedMax = 1000;

// "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]:80", "2001:db8::1".
std::optional<net::IpAddress> AddressIn(std::string_view text) {
  if (const auto address = net::IpAddress::FromText(text)) return net::Unmapped(*address);
  const auto address = net::IpAddress::FromText(text.substr(0, text.rfind(':')));
  return address ? std::optional(net::Unmapped(*address)) : std::nullopt;
}

bool IsIn(const std::vector<net::IpRange>& ranges, const std::optional<net::IpAddress>& address) {
  return address && std::any_of(ranges.begin(), ranges.end(),
                                [&](const auto& range) { return range.Contains(*address); });
}

const std::vector<net::IpRange>& ThisMachine() {
  static const std::vector<net::IpRange> ranges = {*net::IpRange::FromText("127.0.0.0/8"),
                                                   *net::IpRange::FromText("::1")};
  return ranges;
}

// What follows the name of a scheme; nothing where the header has another.
std::optional<std::string_view> Credentials(const net::Request& request, std::string_view scheme) {
  const std::string_view sent = request.head().headers.Find("Authorization").value_or("");
  if (!StartsWithIgnoreCase(sent, scheme) || !sent.substr(scheme.size()).starts_with(' ')) {
    return std::nullopt;
  }
  return TrimSpace(sent.substr(scheme.size()));
}

std::string_view CookieOf(const net::Request& request, std::string_view name) {
  for (const std::string_view header : request.head().headers.FindAll("Cookie")) {
    for (const std::string_view raw : Split(header, ';')) {
      const std::string_view pair = TrimSpace(raw);
      if (pair.starts_with(name) && pair.substr(name.size()).starts_with('=')) {
        return pair.substr(name.size() + 1);
      }
    }
  }
  return "";
}

}  // namespace

Gate::Gate(GateOptions options, io::FileSystem& fs, const io::Clock& clock, io::Random& random)
    : options_(std::move(options)),
      fs_(fs),
      clock_(clock),
      key_(RandomBytes(random, kKeySize)),
      cookie_name_(fmt::format("stele-replay-{}", HexEncode(RandomBytes(random, 4)))),
      nobody_(PasswordHash::Of(RandomBytes(random, kKeySize), random)),
      turns_(kTriesAtOnce) {}

Result<std::unique_ptr<Gate>> Gate::Open(GateOptions options, io::FileSystem& fs,
                                         const io::Clock& clock, io::Random& random) {
  std::unique_ptr<Gate> gate(new Gate(std::move(options), fs, clock, random));
  if (!gate->has_users()) return gate;
  const std::lock_guard lock(gate->mutex_);
  if (const Status read = gate->Read(); !read) return read.error();
  if (gate->known_->users.all().empty()) {
    return Error{ErrorCode::kInvalid, fmt::format("{} has no users; stele user add makes one",
                                                  gate->options_.users_path)};
  }
  return gate;
}

Status Gate::Read() {
  looked_ = clock_.Now();
  Result<std::string> text = io::ReadFile(fs_, options_.users_path);
  if (!text) return text.error();
  if (known_ != nullptr && known_->text == *text) return {};
  Result<Users> users = Users::Parse(*text);
  if (!users) return users.error();
  known_ = std::make_shared<Known>();
  known_->text = *std::move(text);
  known_->users = *std::move(users);
  return {};
}

std::shared_ptr<Gate::Known> Gate::Current() {
  const std::lock_guard lock(mutex_);
  if (clock_.Now().milliseconds - looked_.milliseconds >= kLookMilliseconds) {
    if (const Status read = Read(); !read) options_.complain(read.error());
  }
  return known_;
}

std::optional<net::IpAddress> Gate::AddressOf(const net::Request& request) const {
  std::optional<net::IpAddress> address = AddressIn(request.peer());
  if (!IsIn(options_.proxies, address)) return address;
  // Each proxy adds whom it heard from, so that the last one that no proxy of ours wrote is true.
  std::vector<std::string_view> way = request.head().headers.List(kForwarded);
  while (!way.empty() && IsIn(options_.proxies, address)) {
    address = AddressIn(way.back());
    way.pop_back();
  }
  return address;
}

std::string_view Gate::NamedByProxy(const net::Request& request) const {
  if (options_.user_header.empty()) return "";
  const auto& trusted = options_.proxies.empty() ? ThisMachine() : options_.proxies;
  if (!IsIn(trusted, AddressIn(request.peer()))) return "";
  return request.head().headers.Find(options_.user_header).value_or("");
}

bool Gate::IsVerified(Known& known, const std::string& mark) {
  const std::lock_guard lock(known.mutex);
  return std::any_of(known.verified.begin(), known.verified.end(),
                     [&](const std::string& one) { return SameSecret(one, mark); });
}

Gate::Answer Gate::TryPassword(Known& known, std::string_view name, std::string_view password) {
  const std::string mark = KeyedDigest(key_, fmt::format("{}:{}", name, password));
  if (IsVerified(known, mark)) return Answer::kIn;
  const Users::User* user = known.users.Find(name);
  const bool has_password = user != nullptr && user->password;
  if (trying_.fetch_add(1) >= kTriesMax) {
    trying_.fetch_sub(1);
    return Answer::kBusy;
  }
  turns_.acquire();
  const bool fits = (has_password ? *user->password : nobody_).Fits(password);
  turns_.release();
  trying_.fetch_sub(1);
  if (!fits || !has_password) return Answer::kLogIn;
  const std::lock_guard lock(known.mutex);
  if (known.verified.size() >= kVerifiedMax) known.verified.clear();
  known.verified.push_back(mark);
  return Answer::kIn;
}

Gate::Entry Gate::ByPassword(std::string_view encoded, Entry entry) {
  const std::string pair = Base64Decode(encoded).value_or("");
  const std::size_t colon = std::min(pair.find(':'), pair.size());
  const std::string name = pair.substr(0, colon);
  const std::string_view password = std::string_view(pair).substr(std::min(colon + 1, pair.size()));
  entry.answer = TryPassword(*Current(), name, password);
  if (entry.answer == Answer::kIn) entry.viewer.user = name;
  return entry;
}

Gate::Entry Gate::AtPages(const net::Request& request) {
  Entry entry;
  entry.viewer.address = AddressOf(request);
  if (const std::string_view named = NamedByProxy(request); !named.empty()) {
    entry.viewer.user = named;
    return entry;
  }
  if (!has_users()) {
    if (!options_.is_open) entry.answer = Answer::kRefuse;
    return entry;
  }
  if (const auto password = Credentials(request, "Basic")) {
    return ByPassword(*password, std::move(entry));
  }
  if (const auto token = Credentials(request, "Bearer")) {
    entry.viewer.user = Current()->users.OwnerOf(*token);
    if (entry.viewer.user.empty()) entry.answer = Answer::kLogIn;
    return entry;
  }
  if (!options_.is_open) entry.answer = Answer::kLogIn;
  return entry;
}

Gate::Entry Gate::AtReplay(const net::Request& request) {
  if (!has_users()) return AtPages(request);
  const std::optional<std::string> user = Verify(kCookiePurpose, CookieOf(request, cookie_name_));
  if (user && Current()->users.Find(*user) != nullptr) {
    return {Answer::kIn, {*user, AddressOf(request)}};
  }
  Entry entry = AtPages(request);
  if (entry.answer == Answer::kLogIn && options_.is_open) {
    entry = {Answer::kIn, {"", std::move(entry.viewer.address)}};
  }
  return entry;
}

bool Gate::ShowsMetrics(const Viewer& viewer) const {
  return options_.metrics_for_all || !viewer.user.empty() ||
         IsIn(options_.monitors, viewer.address);
}

std::string Gate::Sign(std::string_view purpose, std::string_view user,
                       std::int64_t seconds) const {
  const std::string text = fmt::format("{}:{}", user, clock_.Now().milliseconds / 1000 + seconds);
  return fmt::format("{}:{}", text,
                     HexEncode(KeyedDigest(key_, fmt::format("{}:{}", purpose, text))));
}

std::optional<std::string> Gate::Verify(std::string_view purpose, std::string_view text) const {
  const std::size_t mark = text.rfind(':');
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view said = text.substr(0, mark);
  const std::string good = HexEncode(KeyedDigest(key_, fmt::format("{}:{}", purpose, said)));
  if (!SameSecret(text.substr(mark + 1), good)) return std::nullopt;
  const std::size_t colon = said.rfind(':');
  const auto end = ParseDecimal(said.substr(colon + 1));
  if (!end || clock_.Now().milliseconds / 1000 > static_cast<std::int64_t>(*end)) {
    return std::nullopt;
  }
  return std::string(said.substr(0, colon));
}

std::string Gate::TicketFor(const Viewer& viewer) {
  if (!has_users() || !IsUserName(viewer.user)) return "";
  // A number of its own, as it is good once.
  return Sign(kTicketPurpose, fmt::format("{}:{}", viewer.user, ++tickets_), kTicketSeconds);
}

bool Gate::UseUp(std::string_view ticket) {
  const std::int64_t now = clock_.Now().milliseconds / 1000;
  const std::lock_guard lock(used_mutex_);
  std::erase_if(used_, [&](const auto& one) { return one.second < now; });
  return used_.emplace(ticket, now + kTicketSeconds).second;
}

std::optional<std::string> Gate::CookieFor(std::string_view ticket) {
  std::optional<std::string> user = Verify(kTicketPurpose, ticket);
  if (!user || !UseUp(ticket)) return std::nullopt;
  user->resize(user->rfind(':'));
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}", cookie_name_,
                     Sign(kCookiePurpose, *user, kCookieSeconds), kCookieSeconds);
}

}  // namespace stele::access
