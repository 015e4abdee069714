#include "access/gate.h"

#include "access/test_access.h"
#include "util/base_encoding.h"

namespace stele::access {
namespace {

using testing::Answer;
using testing::Ask;
using testing::PutFile;
using testing::Serving;
using testing::WarcText;

constexpr const char* kPassword = "correct horse";
constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

std::string Basic(const std::string& name, const std::string& password) {
  return "Authorization: Basic " + Base64Encode(name + ":" + password) + "\r\n";
}
std::string Bearer(const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; }

// A request that came from somewhere.
class Heard final : public net::Request {
 public:
  Heard(std::string peer, std::string fields)
      : peer_(std::move(peer)),
        text_("GET / HTTP/1.1\r\nHost: a\r\n" + std::move(fields) + "\r\n"),
        head_(*http::ParseRequestHead(text_)) {}

  const http::RequestHead& head() const override { return head_; }
  std::string_view path() const override { return "/"; }
  std::string_view query() const override { return ""; }
  std::string_view peer() const override { return peer_; }
  bool secure() const override { return false; }
  io::Source& body() override { return nothing_; }
  std::optional<std::uint64_t> body_length() const override { return 0; }

 private:
  const std::string peer_;
  const std::string text_;
  const http::RequestHead head_;
  io::MemorySource nothing_{""};
};

Users TwoUsers() {
  io::SeededRandom random(1);
  Users users;
  users.SetPassword("ada", PasswordHash::Of(kPassword, random));
  users.AddToken("robot", kToken);
  return users;
}

TEST(Passwords, I7_FitOnlyThemselves) {
  io::SeededRandom random(7);
  const PasswordHash hash = PasswordHash::Of(kPassword, random);
  EXPECT_TRUE(hash.Fits(kPassword));
  EXPECT_FALSE(hash.Fits("correct hors"));
  EXPECT_FALSE(hash.Fits(""));
  EXPECT_EQ(*PasswordHash::FromText(hash.ToText()), hash);
  EXPECT_EQ(hash.ToText().find(kPassword), std::string::npos);
  // Another salt makes the same password another hash.
  EXPECT_NE(PasswordHash::Of(kPassword, random).key, hash.key);
}

// RFC 7914, 12: the second test vector's parameters are the only ones with a cost that we take.
TEST(Passwords, I7_AreThoseOfTheStandard) {
  const auto hash = PasswordHash::FromText(
      "10:8:16:4e61436c:fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162");
  EXPECT_FALSE(hash);  // 16 lanes are more than we take
  const auto small = PasswordHash::FromText(
      "14:8:1:536f6469756d43686c6f72696465:"
      "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2");
  ASSERT_TRUE(small);
  EXPECT_TRUE(small->Fits("pleaseletmein"));
}

TEST(UsersFile, I7_IsReadAndWritten) {
  const std::string text = "# who may look\n\n" + TwoUsers().Format();
  const Result<Users> users = Users::Parse(text);
  ASSERT_TRUE(users) << users.error().text;
  EXPECT_EQ(users->Format(), TwoUsers().Format());
  EXPECT_EQ(users->OwnerOf(kToken), "robot");
  EXPECT_EQ(users->OwnerOf("0123456789abcdef"), "");
  EXPECT_EQ(users->OwnerOf(""), "");
  EXPECT_EQ(users->Find("nobody"), nullptr);
  for (const std::string line :
       {"ada", "ada secret", "a:b sha256:00", "ada sha256:00", "ada scrypt:1:2:3",
        "ada scrypt:", "ada scrypt:30:8:1:00:00", "ada token:0123456789abcdef"}) {
    const Result<Users> wrong = Users::Parse("\n" + line + "\n");
    ASSERT_FALSE(wrong) << line;
    EXPECT_NE(wrong.error().text.find("line 2"), std::string::npos) << wrong.error().text;
  }
  const std::string ada = text.substr(text.find("ada "));
  EXPECT_FALSE(Users::Parse(ada + ada));
}

class Entry : public Serving {
 protected:
  void ServeUsers(GateOptions gate = {.is_open = false}) {
    Bring(WarcText()
              .Response("http://a.org/", "2014-01-01T00:00:00Z", "one")
              .Response("http://b.org/", "2014-01-01T00:00:00Z", "two"));
    PutFile(fs_, "users", TwoUsers().Format());
    PutFile(fs_, "w/index.html", "<title>pages</title>");
    PutFile(fs_, "w/replay/sw.js", "worker");
    PutFile(fs_, "w/replay/shell.html", "<html data-app=\"__APP_ORIGIN__\">");
    AccessServerOptions options;
    options.web_directory = "w";
    options.gate = std::move(gate);
    options.gate.users_path = "users";
    options.gate.metrics_for_all = false;
    Serve(options);
  }
  void SetUp() override {
    Serving::SetUp();
    ASSERT_TRUE(fs_.MakeDirectory("w"));
    ASSERT_TRUE(fs_.MakeDirectory("w/replay"));
  }
  // A ticket for the origin of replay, as the pages get it.
  std::string Ticket(const std::string& headers) {
    const std::string body = Get("/api/v1/archive", headers).body;
    const std::string name = "\"replay_ticket\": \"";
    const std::size_t at = body.find(name) + name.size();
    return body.substr(at, body.find('"', at) - at);
  }
};

TEST_F(Entry, I7_NobodyLooksWithoutLoggingIn) {
  ServeUsers();
  for (const std::string target :
       {"/", "/web/20140101000000id_/http://a.org/", "/api/v1/archive", "/cdx?url=a.org",
        "/metrics", "/lab/health", "/record/201401/0", "/timemap/link/http://a.org/", "/login",
        "/assets/x.js", "/export.warc.gz"}) {
    const Answer answer = Get(target);
    EXPECT_EQ(answer.status, 401) << target;
    EXPECT_EQ(answer.Header("WWW-Authenticate"), "Basic realm=\"Stele\", charset=\"UTF-8\"");
    EXPECT_EQ(answer.body.find("a.org"), std::string::npos) << target;
    for (const std::string& wrong :
         {Basic("ada", "wrong horse"), Basic("eve", kPassword), Basic("robot", ""), Bearer("x"),
          Bearer(kPassword), std::string("Authorization: Basic !\r\n"),
          std::string("Authorization: Basic\r\n"), std::string("Authorization: Digest x\r\n")}) {
      EXPECT_EQ(Get(target, wrong).status, 401) << target << wrong;
      if (target != "/") break;  // the same way for all; passwords take time
    }
  }
  EXPECT_EQ(Get("/health").status, 200);
  EXPECT_EQ(GetReplay("/web/20140101000000rp_/http://a.org/").status, 403);
}

TEST_F(Entry, I7_PasswordsAndTokensOpen) {
  ServeUsers();
  for (const std::string& good : {Basic("ada", kPassword), Bearer(kToken)}) {
    EXPECT_EQ(Get("/web/20140101000000id_/http://a.org/", good).body, "one");
    EXPECT_EQ(Get("/metrics", good).status, 200);
    EXPECT_EQ(Get("/login", good).Header("Location"), "/");
  }
  EXPECT_NE(Get("/api/v1/archive", Bearer(kToken)).body.find("\"user\": \"robot\""),
            std::string::npos);
  for (const std::string& secret : {std::string(kPassword), std::string(kToken),
                                    Base64Encode("ada:" + std::string(kPassword))}) {
    EXPECT_EQ(log_.text().find(secret), std::string::npos);
  }
}

TEST_F(Entry, I7_ATicketOpensReplay) {
  ServeUsers();
  const std::string capture = "/web/20140101000000rp_/http://a.org/";
  const std::string ticket = Ticket(Basic("ada", kPassword));
  ASSERT_NE(ticket, "");
  // The worker's own files are open; what is archived is not.
  EXPECT_EQ(GetReplay("/sw.js").status, 200);
  EXPECT_EQ(GetReplay("/shell").Header("Set-Cookie"), "");
  EXPECT_EQ(GetReplay("/shell?ticket=" + ticket + "0").Header("Set-Cookie"), "");
  const Answer shell = GetReplay("/shell?archive=lab&ticket=" + ticket);
  EXPECT_EQ(shell.status, 200);
  const std::string cookie = shell.Header("Set-Cookie");
  EXPECT_NE(cookie.find("; HttpOnly; SameSite=Strict"), std::string::npos) << cookie;
  // Whoever finds it in the address of the shell is too late.
  EXPECT_EQ(GetReplay("/shell?archive=lab&ticket=" + ticket).Header("Set-Cookie"), "");
  const std::string sent = "Cookie: x=y; " + cookie.substr(0, cookie.find(';')) + "\r\n";
  EXPECT_EQ(GetReplay(capture, sent).body, "one");
  // Scripts of archived pages send what they like.
  EXPECT_EQ(GetReplay(capture, sent + "Authorization: Basic eA==\r\n").body, "one");
  // The pages know no cookies, and a ticket is no cookie.
  EXPECT_EQ(Get("/api/v1/archive", sent).status, 401);
  const std::string name = cookie.substr(0, cookie.find('='));
  EXPECT_EQ(GetReplay(capture, "Cookie: " + name + "=" + ticket + "\r\n").status, 403);
  std::string forged = sent;
  forged.replace(forged.find("=ada:") + 1, 3, "eve");
  EXPECT_EQ(GetReplay(capture, forged).status, 403);
  EXPECT_EQ(GetReplay(capture, Basic("ada", kPassword)).body, "one");
  EXPECT_EQ(log_.text().find(ticket), std::string::npos);
  EXPECT_NE(log_.text().find("/shell?archive=lab&ticket=\""), std::string::npos);
}

TEST_F(Entry, I7_AnOpenArchiveHasUsersToo) {
  PutFile(fs_, "a/access.aclj",
          "org,b)/ - {\"access\": \"block\"}\n"
          "org,b)/ - {\"access\": \"allow\", \"user\": \"ada\"}\n");
  ServeUsers({.is_open = true});
  EXPECT_EQ(Get("/web/20140101000000id_/http://a.org/").body, "one");
  EXPECT_EQ(Get("/web/20140101000000id_/http://b.org/").status, 451);
  EXPECT_EQ(Get("/web/20140101000000id_/http://b.org/", Bearer(kToken)).status, 451);
  const std::string ada = Basic("ada", kPassword);
  EXPECT_EQ(Get("/web/20140101000000id_/http://b.org/", ada).body, "two");
  EXPECT_EQ(Get("/", Basic("ada", "wrong horse")).status, 401);
  EXPECT_EQ(Get("/login").status, 401);
  EXPECT_EQ(Get("/login", ada).status, 302);
  EXPECT_EQ(Get("/metrics").status, 403);
  const std::string capture = "/web/20140101000000rp_/http://b.org/";
  EXPECT_EQ(GetReplay(capture).status, 451);
  EXPECT_EQ(GetReplay(capture, "Authorization: Basic eA==\r\n").status, 451);
  const std::string cookie = GetReplay("/shell?ticket=" + Ticket(ada)).Header("Set-Cookie");
  EXPECT_EQ(GetReplay(capture, "Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n").body,
            "two");
}

TEST_F(Entry, I7_UsersComeAndGoWhileItServes) {
  io::ManualClock clock(*ParseDigits("20260101"));
  io::SeededRandom random(3);
  PutFile(fs_, "users", TwoUsers().Format());
  auto gate = Gate::Open({.users_path = "users", .is_open = false}, fs_, clock, random);
  ASSERT_TRUE(gate) << gate.error().text;
  const Heard request("192.0.2.1:80", Bearer(kToken));
  const auto wait = [&](int seconds) { clock.Set({clock.Now().milliseconds + 1000 * seconds}); };
  EXPECT_EQ((*gate)->AtPages(request).answer, Gate::Answer::kIn);
  const std::string ticket = (*gate)->TicketFor({"ada", std::nullopt});
  const std::string late = (*gate)->TicketFor({"ada", std::nullopt});
  EXPECT_TRUE((*gate)->CookieFor(ticket));
  EXPECT_FALSE((*gate)->CookieFor(ticket)) << "it is good once";
  PutFile(fs_, "users", "");
  wait(3);
  EXPECT_EQ((*gate)->AtPages(request).answer, Gate::Answer::kLogIn);
  wait(600);
  EXPECT_FALSE((*gate)->CookieFor(late));
  // A file that cannot be read changes nothing.
  PutFile(fs_, "users", TwoUsers().Format());
  wait(3);
  EXPECT_EQ((*gate)->AtPages(request).answer, Gate::Answer::kIn);
  PutFile(fs_, "users", "nonsense");
  wait(3);
  EXPECT_EQ((*gate)->AtPages(request).answer, Gate::Answer::kIn);
  EXPECT_FALSE(Gate::Open({.users_path = "users"}, fs_, clock, random));
  EXPECT_FALSE(Gate::Open({.users_path = "none"}, fs_, clock, random));
}

TEST(Clients, W15_AreWhereTrustedProxiesSayThatTheyAre) {
  io::MemoryFileSystem fs;
  const io::SystemClock clock;
  io::SeededRandom random(3);
  GateOptions options;
  options.user_header = "X-User";
  auto alone = Gate::Open(options, fs, clock, random);
  options.proxies = {*net::IpRange::FromText("10.0.0.0/8"), *net::IpRange::FromText("::1")};
  auto behind = Gate::Open(options, fs, clock, random);
  const auto at = [](Gate& gate, const std::string& peer, const std::string& fields) {
    const auto address = gate.AtPages(Heard(peer, fields)).viewer.address;
    return address ? address->ToText() : "nowhere";
  };
  const std::string way = "X-Forwarded-For: 198.51.100.1, 203.0.113.5\r\n";
  EXPECT_EQ(at(**alone, "10.0.0.1:80", way), "10.0.0.1");
  EXPECT_EQ(at(**behind, "10.0.0.1:80", way), "203.0.113.5");
  EXPECT_EQ(at(**behind, "[::1]:80", way), "203.0.113.5");
  EXPECT_EQ(at(**behind, "[::ffff:10.0.0.1]:80", way), "203.0.113.5");
  EXPECT_EQ(at(**behind, "192.0.2.1:80", way), "192.0.2.1");
  EXPECT_EQ(at(**behind, "10.0.0.1:80", way + "X-Forwarded-For: 10.2.2.2\r\n"), "203.0.113.5");
  EXPECT_EQ(at(**behind, "10.0.0.1:80", "X-Forwarded-For: [2001:db8::1]:99\r\n"), "2001:db8::1");
  EXPECT_EQ(at(**behind, "10.0.0.1:80", "X-Forwarded-For: 192.0.2.9:99\r\n"), "192.0.2.9");
  EXPECT_EQ(at(**behind, "10.0.0.1:80", "X-Forwarded-For: unknown\r\n"), "nowhere");
  EXPECT_EQ(at(**behind, "10.0.0.1:80", ""), "10.0.0.1");
  const auto who = [](Gate& gate, const std::string& peer) {
    return gate.AtPages(Heard(peer, "X-User: ada\r\n")).viewer.user;
  };
  EXPECT_EQ(who(**alone, "127.0.0.1:80"), "ada");
  EXPECT_EQ(who(**alone, "10.0.0.1:80"), "");
  EXPECT_EQ(who(**behind, "10.0.0.1:80"), "ada");
  EXPECT_EQ(who(**behind, "127.0.0.1:80"), "");
}

TEST(Clients, I7_WhomNoProxyNamesStaysOutsideWhereNotAllMayLook) {
  io::MemoryFileSystem fs;
  const io::SystemClock clock;
  io::SeededRandom random(3);
  GateOptions options;
  options.user_header = "X-User";
  options.proxies = {*net::IpRange::FromText("10.0.0.0/8")};
  options.is_open = false;
  auto gate = Gate::Open(options, fs, clock, random);
  ASSERT_TRUE(gate) << gate.error().text;
  const Heard named("10.0.0.1:80", "X-User: ada\r\n");
  EXPECT_EQ((*gate)->AtPages(named).answer, Gate::Answer::kIn);
  EXPECT_EQ((*gate)->AtReplay(named).answer, Gate::Answer::kIn);
  for (const Heard& other : {Heard("10.0.0.1:80", ""), Heard("192.0.2.1:80", "X-User: ada\r\n"),
                             Heard("192.0.2.1:80", Bearer(kToken))}) {
    EXPECT_EQ((*gate)->AtPages(other).answer, Gate::Answer::kRefuse);
    EXPECT_EQ((*gate)->AtReplay(other).answer, Gate::Answer::kRefuse);
  }
}

}  // namespace
}  // namespace stele::access
