#include "archive/archive_config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <set>

#include "util/ascii.h"
#include "util/json.h"

namespace stele::archive {
namespace {

struct TextField {
  std::string_view name;
  std::string ArchiveConfig::*member;
};
constexpr TextField kTexts[] = {
    {"title", &ArchiveConfig::title},     {"description", &ArchiveConfig::description},
    {"creator", &ArchiveConfig::creator}, {"rights", &ArchiveConfig::rights},
    {"contact", &ArchiveConfig::contact}, {"language", &ArchiveConfig::language},
};

struct VolumeText {
  std::string_view name;
  std::string ArchiveConfig::Volume::*member;
};
constexpr VolumeText kVolumeTexts[] = {
    {"name", &ArchiveConfig::Volume::name},
    {"path", &ArchiveConfig::Volume::path},
    {"connector", &ArchiveConfig::Volume::connector},
    {"token-file", &ArchiveConfig::Volume::token_file},
    {"owner", &ArchiveConfig::Volume::owner},
};

Error Wrong(const std::string& file, const toml::source_region& where, std::string_view what) {
  return Error{ErrorCode::kInvalid, fmt::format("{}, line {}: {}", file, where.begin.line, what)};
}

bool IsVolumeName(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string_view::npos;
}

Status ReadText(const std::string& file, std::string_view name, const toml::node& node,
                std::string& out) {
  const toml::value<std::string>* text = node.as_string();
  if (text == nullptr) {
    return Wrong(file, node.source(), fmt::format("{} is a text in quotes", name));
  }
  out = text->get();
  return {};
}

Result<ArchiveConfig::Volume> ReadVolume(const std::string& file, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Wrong(file, node.source(), "a volume is a table: [[volume]]");
  ArchiveConfig::Volume volume;
  for (const auto& [key, value] : *table) {
    const auto* const text =
        std::find_if(std::begin(kVolumeTexts), std::end(kVolumeTexts),
                     [&](const VolumeText& known) { return known.name == key.str(); });
    if (text != std::end(kVolumeTexts)) {
      const Status read = ReadText(file, key.str(), value, volume.*(text->member));
      if (!read) return read.error();
    } else if (key == "writable") {
      const toml::value<bool>* writable = value.as_boolean();
      if (writable == nullptr) return Wrong(file, value.source(), "writable is true or false");
      volume.writable = writable->get();
    } else {
      return Wrong(file, value.source(),
                   fmt::format("a volume has name, path, writable, connector, token-file and "
                               "owner, no {}",
                               key.str()));
    }
  }
  if (!IsVolumeName(volume.name)) {
    return Wrong(file, table->source(),
                 "a volume has a name of 1 to 64 characters of a-z, 0-9, - and _");
  }
  if (!volume.is_remote() && !(volume.token_file.empty() && volume.owner.empty())) {
    return Wrong(file, table->source(), "token-file and owner are for volumes with a connector");
  }
  return volume;
}

Result<toml::table> Parse(const std::string& text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {  // of the library; ours do not throw
    return Wrong(name, error.source(), error.description());
  }
}

}  // namespace

Result<ArchiveConfig> ParseArchiveConfig(const std::string& text, const std::string& name) {
  const Result<toml::table> parsed = Parse(text, name);
  if (!parsed) return parsed.error();
  ArchiveConfig config;
  std::set<std::string> names;
  for (const auto& [key, value] : *parsed) {
    if (key == "volume") {
      const toml::array* volumes = value.as_array();
      if (volumes == nullptr) return Wrong(name, value.source(), "volumes are given as [[volume]]");
      for (const toml::node& node : *volumes) {
        Result<ArchiveConfig::Volume> volume = ReadVolume(name, node);
        if (!volume) return volume.error();
        if (!names.insert(volume->name).second) {
          return Wrong(name, node.source(), fmt::format("volume {} is there twice", volume->name));
        }
        config.volumes.push_back(std::move(*volume));
      }
      continue;
    }
    const auto* const field = std::find_if(std::begin(kTexts), std::end(kTexts),
                                           [&](const auto& f) { return f.name == key.str(); });
    if (field == std::end(kTexts)) {
      return Wrong(name, value.source(), fmt::format("nothing is called {} here", key.str()));
    }
    const Status read = ReadText(name, field->name, value, config.*(field->member));
    if (!read) return read.error();
  }
  if (config.volumes.empty()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}: there is no volume; add [[volume]] and name = \"main\"", name)};
  }
  return config;
}

std::string FormatArchiveConfig(const ArchiveConfig& config) {
  std::string out =
      "# A web archive, kept by Stele. What is said here about the collection goes into exports.\n";
  for (const TextField& field : kTexts) {
    out += fmt::format("{} = ", field.name);
    AppendJsonString(out, config.*(field.member));
    out += '\n';
  }
  out +=
      "\n# Where files are kept. New ones go to the first volume that is writable and has room;\n"
      "# path = \"/mnt/disk2/archive\" puts a volume elsewhere than in volumes/NAME,\n"
      "# connector = \"connector.xml\" on other machines.\n";
  for (const ArchiveConfig::Volume& volume : config.volumes) {
    out += "\n[[volume]]\n";
    for (const VolumeText& text : kVolumeTexts) {
      if ((volume.*(text.member)).empty()) continue;
      out += fmt::format("{} = ", text.name);
      AppendJsonString(out, volume.*(text.member));
      out += '\n';
    }
    if (!volume.writable) out += "writable = false\n";
  }
  return out;
}

}  // namespace stele::archive
