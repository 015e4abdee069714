#include "access/api_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "access/api_document.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

struct Parameter {
  std::string_view name;
  std::string_view description;
  std::string values;  // "integer, default 100"
  bool is_required = false;
};

struct Route {
  std::string_view path;
  std::string_view summary;
  std::string_view description;
  std::vector<Parameter> parameters;
};

struct Document {
  std::string_view title;
  std::string description;
  std::vector<Route> routes;
};

std::string_view Unquoted(std::string_view text) {
  text = TrimSpace(text);
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

// What stands between the commas of "{name: q, schema: {type: string}}" or "[a, b]".
std::vector<std::string_view> PartsOf(std::string_view flow) {
  std::vector<std::string_view> parts;
  flow = TrimSpace(flow);
  if (flow.size() < 2) return parts;
  flow = flow.substr(1, flow.size() - 2);
  int depth = 0;
  bool is_quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < flow.size(); ++i) {
    const char c = flow[i];
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != ',' || depth > 0) continue;
    parts.push_back(TrimSpace(flow.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(TrimSpace(flow.substr(begin)));
  return parts;
}

// "{enum: [a, b], default: a}" as "a, b; default a".
std::string ValuesOf(std::string_view schema) {
  std::string values;
  for (const std::string_view part : PartsOf(schema)) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    const std::string_view name = part.substr(0, colon);
    const std::string_view value = part.substr(std::min(colon + 1, part.size()));
    if (!values.empty()) values += "; ";
    if (name == "enum") {
      values += fmt::format("{}", fmt::join(PartsOf(value), ", "));
    } else if (name == "type") {
      values += Unquoted(value);
    } else {
      values += fmt::format("{} {}", name, Unquoted(value));
    }
  }
  return values;
}

Parameter ParameterOf(std::string_view flow) {
  Parameter parameter;
  for (const std::string_view part : PartsOf(flow)) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    const std::string_view name = part.substr(0, colon);
    const std::string_view value = Unquoted(part.substr(std::min(colon + 1, part.size())));
    if (name == "name") parameter.name = value;
    if (name == "description") parameter.description = value;
    if (name == "required") parameter.is_required = value == "true";
    if (name == "schema") parameter.values = ValuesOf(value);
  }
  return parameter;
}

// Takes what a line begins with off; false where it begins otherwise.
bool Take(std::string_view& line, std::string_view begin) {
  if (!line.starts_with(begin)) return false;
  line.remove_prefix(begin.size());
  return true;
}

// A line below "paths:".
void ReadRouteLine(std::string_view line, std::vector<Route>& routes) {
  if (line.starts_with("  /")) {
    routes.emplace_back().path = line.substr(2, line.size() - 3);
  } else if (routes.empty()) {
    return;
  } else if (Take(line, "      summary: ")) {
    routes.back().summary = Unquoted(line);
  } else if (Take(line, "      description: ")) {
    routes.back().description = Unquoted(line);
  } else if (Take(line, "      parameters: ")) {
    for (const std::string_view part : PartsOf(line)) {
      routes.back().parameters.push_back(ParameterOf(part));
    }
  } else if (Take(line, "        - ")) {
    routes.back().parameters.push_back(ParameterOf(line));
  }
}

// Our own document is written in few of the ways that YAML knows: what there is to say of a route
// stands at its own depth, and a parameter in one line.
Document ReadDocument(std::string_view yaml) {
  Document document;
  std::string_view section;
  for (std::string_view line : Split(yaml, '\n')) {
    if (!line.empty() && line.front() != ' ') {
      section = line.substr(0, line.find(':'));
    } else if (section == "paths") {
      ReadRouteLine(line, document.routes);
    } else if (section == "info" && Take(line, "  title: ")) {
      document.title = Unquoted(line);
    } else if (section == "info" && Take(line, "    ")) {
      document.description += fmt::format("{} ", line);
    }
  }
  return document;
}

std::string RouteText(const Call& call, const Route& route) {
  const std::string path = EscapeHtml(route.path);
  const bool opens = std::none_of(route.parameters.begin(), route.parameters.end(),
                                  [](const Parameter& one) { return one.is_required; });
  std::string text = "<h2><code>";
  if (opens) text += fmt::format("<a href=\"{}{}\">", EscapeHtml(call.prefix), path.substr(1));
  text += fmt::format("{}{}</code></h2><p>{}.</p>", path, opens ? "</a>" : "",
                      EscapeHtml(route.summary));
  if (!route.description.empty()) text += fmt::format("<p>{}.</p>", EscapeHtml(route.description));
  if (route.parameters.empty()) return text;
  text += "<table>";
  for (const Parameter& parameter : route.parameters) {
    text +=
        fmt::format("<tr><th>{}</th><td>{}</td><td>{}{}{}</td></tr>", EscapeHtml(parameter.name),
                    EscapeHtml(parameter.values), parameter.is_required ? "required" : "",
                    parameter.is_required && !parameter.description.empty() ? "; " : "",
                    EscapeHtml(parameter.description));
  }
  return text + "</table>";
}

}  // namespace

void SendApiPage(const Call& call) {
  const Document document = ReadDocument(ApiDocument());
  std::string body = fmt::format(
      "<p>{}</p><p>What the answers consist of is said by <a href=\"{}api/v1/openapi.yaml\">"
      "openapi.yaml</a>, for programs too.</p>",
      EscapeHtml(document.description), EscapeHtml(call.prefix));
  for (const Route& route : document.routes) body += RouteText(call, route);
  SendText(call, kHtmlType, PlainPage(document.title, body));
}

void SendApiDocument(const Call& call) { SendText(call, "application/yaml", ApiDocument()); }

}  // namespace stele::access
