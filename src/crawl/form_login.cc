#include "crawl/form_login.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "crawl/endpoint.h"
#include "formats/html/tokenizer.h"
#include "formats/http/message.h"
#include "formats/url/request_body.h"
#include "util/ascii.h"

namespace stele::crawl {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

constexpr int kRefusedFrom = 400;

std::string_view ValueOf(const html::Tag& tag, std::string_view name) {
  for (const html::Attribute& attribute : tag.attributes) {
    if (attribute.name == name) return attribute.value;
  }
  return {};
}

bool HasField(std::string_view fields, std::string_view encoded_name) {
  for (const std::string_view field : Split(fields, '&')) {
    if (field.substr(0, field.find('=')) == encoded_name) return true;
  }
  return false;
}

class FormSink final : public html::TokenSink {
 public:
  explicit FormSink(std::string_view fields) : fields_(fields) {}

  void OnStartTag(const html::Tag& tag) override {
    if (tag.name == "form") {
      if (!is_found_) form_ = {std::string(ValueOf(tag, "action")), ""};
      is_open_ = !is_found_;
    } else if (tag.name == "input" && is_open_) {
      TakeInput(tag);
    }
  }
  void OnEndTag(const html::Tag& tag) override {
    if (tag.name == "form") is_open_ = false;
  }
  void OnText(std::string_view, html::SourceRange) override {}
  void OnComment(std::string_view, html::SourceRange) override {}
  void OnDoctype(const html::Doctype&) override {}

  LoginForm Take() { return is_found_ ? std::move(form_) : LoginForm(); }

 private:
  void TakeInput(const html::Tag& tag) {
    std::string field;
    url::AppendFormEncoded(field, ValueOf(tag, "name"));
    if (HasField(fields_, field)) is_found_ = true;
    if (!EqualsIgnoreCase(ValueOf(tag, "type"), "hidden") || HasField(fields_, field)) return;
    field += '=';
    url::AppendFormEncoded(field, ValueOf(tag, "value"));
    if (!form_.hidden.empty()) form_.hidden += '&';
    form_.hidden += field;
  }

  const std::string_view fields_;
  LoginForm form_;
  bool is_open_ = false;   // inside the one that is looked at
  bool is_found_ = false;  // it is the wanted one
};

class Session {
 public:
  Session(const std::string& user_agent, const std::optional<net::FetchProxy>& proxy,
          net::Fetcher& fetcher, const io::Clock& clock, const std::function<bool()>& is_stopped)
      : user_agent_(user_agent),
        proxy_(proxy),
        fetcher_(fetcher),
        clock_(clock),
        is_stopped_(is_stopped) {}

  net::FetchResult Get(const url::Url& at) { return Ask(at, RequestFor(at)); }

  net::FetchResult Post(const url::Url& at, const url::Url& from, std::string body) {
    net::FetchRequest request = RequestFor(at);
    request.method = "POST";
    request.fields.push_back({"Referer", std::string(from.href_without_fragment())});
    request.fields.push_back({"Content-Type", "application/x-www-form-urlencoded"});
    request.fields.push_back({"Content-Length", std::to_string(body.size())});
    request.body = std::move(body);
    return Ask(at, std::move(request));
  }

  const cookies::CookieJar& jar() const { return jar_; }

 private:
  static cookies::Site SiteOf(const url::Url& at) {
    return {at.host(), at.path(), at.scheme() == "https"};
  }

  net::FetchRequest RequestFor(const url::Url& at) const {
    net::FetchRequest request;
    request.endpoint = EndpointOf(at);
    request.target = at.path_and_query();
    request.fields = {
        {"Host", std::string(at.host_and_port())}, {"User-Agent", user_agent_}, {"Accept", "*/*"}};
    if (std::string cookie = jar_.HeaderFor(SiteOf(at), clock_.Now()); !cookie.empty()) {
      request.fields.push_back({"Cookie", std::move(cookie)});
    }
    request.private_addresses = true;  // a person named it
    request.proxy = proxy_;
    return request;
  }

  net::FetchResult Ask(const url::Url& at, net::FetchRequest request) {
    // Shared: the waiting side may be gone while the other is not yet out of set_value().
    const auto promise = std::make_shared<std::promise<net::FetchResult>>();
    std::future<net::FetchResult> answer = promise->get_future();
    fetcher_.Fetch(std::move(request),
                   [promise](net::FetchResult result) { promise->set_value(std::move(result)); });
    while (answer.wait_for(kLookEvery) != std::future_status::ready) {
      if (is_stopped_()) fetcher_.Stop();
    }
    net::FetchResult result = answer.get();
    if (const Result<http::ResponseHead> head = http::ParseResponseHead(result.head)) {
      jar_.SetAll(head->headers.FindAll("Set-Cookie"), SiteOf(at), clock_.Now());
    }
    return result;
  }

  const std::string& user_agent_;
  const std::optional<net::FetchProxy>& proxy_;
  net::Fetcher& fetcher_;
  const io::Clock& clock_;
  const std::function<bool()>& is_stopped_;
  cookies::CookieJar jar_;
};

Error NotIn(const url::Url& page, std::string_view why) {
  return {ErrorCode::kInvalid,
          fmt::format("the login at {} failed: {}", page.href_without_fragment(), why)};
}

Status CheckAnswer(const net::FetchResult& result, const url::Url& page) {
  if (result.failure != net::FetchFailure::kNone) return NotIn(page, result.error);
  if (result.status < kRefusedFrom) return {};
  return NotIn(page, fmt::format("the server answered {}", result.status));
}

}  // namespace

LoginForm FindLoginForm(std::string_view page, std::string_view fields) {
  FormSink sink(fields);
  html::Tokenizer tokenizer(sink, {});
  tokenizer.Feed(page);
  tokenizer.Finish();
  return sink.Take();
}

Result<std::vector<cookies::Cookie>> LogIn(const LoginByForm& login, const std::string& user_agent,
                                           const std::optional<net::FetchProxy>& proxy,
                                           net::Fetcher& fetcher, const io::Clock& clock,
                                           const std::function<bool()>& is_stopped) {
  const url::Url& page = login.page;
  Session session(user_agent, proxy, fetcher, clock, is_stopped);
  const net::FetchResult shown = session.Get(page);
  if (const Status there = CheckAnswer(shown, page); !there) return there.error();
  std::string storage;
  const LoginForm form = FindLoginForm(shown.PayloadInMemory(storage).value_or(""), login.fields);
  const Result<url::Url> action = url::Parse(form.action, &page);
  if (!action || action->host() != page.host() ||
      (page.scheme() == "https" && action->scheme() != "https")) {
    return NotIn(page, "its form would be sent to another host, or in the clear");
  }
  std::string body = login.fields;
  if (!form.hidden.empty()) body += '&' + form.hidden;
  const std::vector<cookies::Cookie> before = session.jar().All();
  const net::FetchResult result = session.Post(*action, page, std::move(body));
  if (const Status taken = CheckAnswer(result, page); !taken) return taken.error();
  std::vector<cookies::Cookie> cookies = session.jar().All();
  if (cookies == before) return NotIn(page, "the server set no cookie; check names and values");
  return cookies;
}

}  // namespace stele::crawl
