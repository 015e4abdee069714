#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"
#include "store/instance.h"
#include "store/member.h"
#include "store/test_volume.h"
#include "util/ascii.h"

// What the tests of members and instances share.
namespace stele::store {

// A durable table on a file system of ours, so that the disk can fail and lose power under it: a
// file with a line for each write, synced. A last line that is not whole never happened.
class FileTable final : public BlockTable {
 public:
  static Result<std::unique_ptr<BlockTable>> Open(io::FileSystem& fs, const std::string& path) {
    auto table = std::unique_ptr<FileTable>(new FileTable);
    const Result<bool> exists = fs.Exists(path);
    if (!exists) return exists.error();
    std::string log;
    if (*exists) {
      Result<std::string> read = io::ReadFile(fs, path);
      if (!read) return read.error();
      log = *std::move(read);
    }
    std::size_t good_size = 0;
    for (const std::string_view line : Split(log, '\n')) {
      if (good_size + line.size() >= log.size() || !table->Apply(line)) break;
      good_size += line.size() + 1;
    }
    log.resize(good_size);
    const Status rewritten = io::ReplaceFile(fs, path, log);
    if (!rewritten) return rewritten.error();
    Result<std::unique_ptr<io::WritableFile>> file = fs.OpenForAppending(path);
    if (!file) return file.error();
    table->file_ = *std::move(file);
    return std::unique_ptr<BlockTable>(std::move(table));
  }

  Result<std::optional<std::string>> Get(const std::string& key) const override {
    return rows_.Get(key);
  }
  Status Write(const Changes& changes) override {
    std::string line;
    for (const auto& [key, value] : changes) {
      line += Hex(key) + ':' + (value ? Hex(*value) : "-") + ' ';
    }
    const std::lock_guard lock(mutex_);
    if (failed_) return Error{ErrorCode::kIo, "the table failed before"};
    Status written = file_->Append(line + '#' + SumOf(line) + '\n');
    if (written) written = file_->Sync();
    failed_ = !written.ok();
    return written ? rows_.Write(changes) : written;
  }
  Status ScanAfter(const std::string& prefix, const std::string& after,
                   const Visit& visit) const override {
    return rows_.ScanAfter(prefix, after, visit);
  }
  Status Flush() override { return {}; }
  Status Clear() override {
    Changes all;
    const Status scanned = rows_.Scan("", [&](std::string_view key, std::string_view) {
      all.emplace(key, std::nullopt);
      return true;
    });
    return scanned && !all.empty() ? Write(all) : scanned;
  }

 private:
  static std::string Hex(std::string_view bytes) {
    std::string text;
    constexpr char kDigits[] = "0123456789ABCDEF";
    for (const char c : bytes) {
      text += kDigits[static_cast<unsigned char>(c) / 16];
      text += kDigits[static_cast<unsigned char>(c) % 16];
    }
    return text;
  }
  static std::string Bytes(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      bytes += static_cast<char>(HexValue(hex[i]) * 16 + HexValue(hex[i + 1]));
    }
    return bytes;
  }
  static std::string SumOf(std::string_view text) {
    return std::to_string(std::hash<std::string_view>()(text));
  }
  // False for a line that is not whole.
  bool Apply(std::string_view line) {
    const std::size_t end = std::min(line.find('#'), line.size());
    const std::string_view text = line.substr(0, end);
    if (line.substr(std::min(end + 1, line.size())) != SumOf(text)) return false;
    Changes changes;
    for (const std::string_view part : Split(text, ' ')) {
      const std::size_t colon = part.find(':');
      if (colon == std::string_view::npos) continue;
      const std::string_view value = part.substr(colon + 1);
      std::optional<std::string>& row = changes[Bytes(part.substr(0, colon))];
      if (value != "-") row = Bytes(value);
    }
    EXPECT_TRUE(rows_.Write(changes));
    return true;
  }

  MemoryBlockTable rows_;
  std::mutex mutex_;
  std::unique_ptr<io::WritableFile> file_;
  bool failed_ = false;
};

// The volume, whose directory has its name, as a member.
inline Result<std::unique_ptr<Member>> OpenMember(io::FileSystem& fs,
                                                  std::unique_ptr<Volume> volume,
                                                  Member::Options options = {}) {
  const std::string directory = volume->name();
  Result<std::unique_ptr<BlockTable>> table = FileTable::Open(fs, directory + "/directory");
  if (!table) return table.error();
  return Member::Open(fs, directory, std::move(volume), *std::move(table), options);
}

inline std::unique_ptr<Member> NewMember(io::FileSystem& fs, const TreeVolume::Shape& shape,
                                         const TreeVolume::Options& options = {}) {
  Result<std::unique_ptr<Member>> member = OpenMember(fs, NewVolume(fs, shape, options));
  EXPECT_TRUE(member) << member.error().text;
  return member ? *std::move(member) : nullptr;
}

}  // namespace stele::store
