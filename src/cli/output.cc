#include "cli/output.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace stele::cli {
namespace {

constexpr std::size_t kPendingBytes = 256 * 1024;

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::Create(Context& context, const std::string& path,
                                                       bool replace) {
  std::unique_ptr<OutputFile> output(new OutputFile(context, path));
  if (path == "-") return output;
  // A device or pipe would be replaced by the file, not written to.
  std::error_code unknown;
  const std::filesystem::file_status standing = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(standing) && !std::filesystem::is_regular_file(standing)) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} is no regular file; write to - and redirect that", path)};
  }
  Result<bool> exists = context.fs.Exists(path);
  if (!exists) return exists.error();
  if (*exists && !replace) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} exists already; use --force to replace it", path)};
  }
  Result<std::unique_ptr<io::WritableFile>> file = context.fs.Create(path + ".part");
  if (!file) return file.error();
  output->file_ = *std::move(file);
  return output;
}

OutputFile::~OutputFile() {
  // An error on the way here has been reported; this only tidies up.
  if (file_ != nullptr && !committed_) {
    static_cast<void>(context_.fs.Remove(path_ + ".part").ok());
  }
}

Status OutputFile::Write(std::string_view bytes) {
  pending_ += bytes;
  return pending_.size() < kPendingBytes ? Status() : Flush();
}

Status OutputFile::Flush() {
  const Status written = file_ != nullptr ? file_->Append(pending_) : context_.out.Write(pending_);
  pending_.clear();
  return written;
}

Status OutputFile::Close() {
  if (closed_) return {};
  closed_ = true;
  if (const Status flushed = Flush(); !flushed || file_ == nullptr) return flushed;
  if (const Status synced = file_->Sync(); !synced) return synced;
  pending_.shrink_to_fit();
  return file_->Close();
}

Status OutputFile::Commit() {
  if (const Status closed = Close(); !closed || file_ == nullptr) return closed;
  if (const Status renamed = context_.fs.Rename(path_ + ".part", path_); !renamed) return renamed;
  committed_ = true;
  return context_.fs.SyncDirectory(io::ParentDirectory(path_));
}

}  // namespace stele::cli
