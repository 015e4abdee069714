#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "access/sight.h"
#include "archive/archive_reader.h"
#include "io/file_system.h"

namespace stele::access {

// An archive that is served while others may write it. Thread-safe. Borrows `fs` for life.
class ServedArchive {
 public:
  // `rules_path`: a file with access rules; the archive's own access.aclj where it is empty.
  // Errors: those of ArchiveReader::Open(); kInvalid for wrong rules.
  static Result<std::unique_ptr<ServedArchive>> Open(io::FileSystem& fs, std::string directory,
                                                     std::string name, std::string rules_path);

  const std::string& name() const { return name_; }
  // As of the last Refresh().
  std::shared_ptr<const Snapshot> Now() const;
  // Takes up what has been written since; rules too. After an error what was there stays.
  Status Refresh();

 private:
  ServedArchive(io::FileSystem& fs, std::string directory, std::string name,
                std::string rules_path);
  // Empty where there are none. Errors: also kNotFound when the file was there before: then nobody
  // has said that all may be shown. Requires refreshing_.
  Result<std::string> ReadRules();

  io::FileSystem& fs_;
  const std::string directory_;
  const std::string name_;
  const std::string rules_path_;
  std::mutex refreshing_;
  std::shared_ptr<archive::ArchiveReader> reader_;  // with refreshing_
  bool had_rules_ = false;                          // with refreshing_
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_;  // with mutex_
};

// All archives that are served, refreshed in the background. The first is the one that is meant
// where none is named. Thread-safe.
class ServedArchives {
 public:
  // `complain` is called when an archive could not be refreshed, once until it could be again.
  // Requires: there is one, and names are all different.
  ServedArchives(std::vector<std::unique_ptr<ServedArchive>> archives,
                 std::chrono::milliseconds interval, std::function<void(const Error&)> complain);
  ~ServedArchives();
  ServedArchives(const ServedArchives&) = delete;
  ServedArchives& operator=(const ServedArchives&) = delete;

  const std::vector<std::unique_ptr<ServedArchive>>& all() const { return archives_; }
  // Null when there is none.
  ServedArchive* Find(std::string_view name) const;

 private:
  void Loop(std::chrono::milliseconds interval);

  const std::vector<std::unique_ptr<ServedArchive>> archives_;
  const std::function<void(const Error&)> complain_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stele::access
