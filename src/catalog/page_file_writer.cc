#include "catalog/page_file_writer.h"

#include "catalog/page_file_format.h"
#include "codec/zstd_codec.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

constexpr std::size_t kWriteBytes = 256 << 10;

}  // namespace

PageFileWriter::PageFileWriter(io::FileSystem& fs, std::string path, int level)
    : fs_(fs), path_(std::move(path)), encoder_(codec::ZstdCodec().NewEncoder(level)) {}

Result<std::unique_ptr<PageFileWriter>> PageFileWriter::Create(io::FileSystem& fs, std::string path,
                                                               std::string_view kind, int level) {
  std::unique_ptr<PageFileWriter> writer(new PageFileWriter(fs, std::move(path), level));
  Result<std::unique_ptr<io::WritableFile>> file = fs.Create(writer->path_ + ".new");
  if (!file) return file.error();
  writer->file_ = std::move(*file);
  writer->pending_ = FormatPageFileHead(kind);
  return writer;
}

PageFileWriter::~PageFileWriter() {
  if (file_ == nullptr) return;
  // What went wrong has been reported, or nobody wants the file; a leftover is harmless.
  static_cast<void>(file_->Close().ok());
  static_cast<void>(fs_.Remove(path_ + ".new").ok());
}

Result<std::uint32_t> PageFileWriter::Append(const PageParts& page, std::string_view first_key) {
  Check(SizeOf(page) <= kPageBytesMax);
  const std::size_t before = pending_.size();
  AppendFrame(page, index_.end(), *encoder_, pending_);
  index_.Add(first_key, pending_.size() - before);
  if (pending_.size() >= kWriteBytes) {
    if (const Status status = Flush(); !status) return status.error();
  }
  return index_.size() - 1;
}

Status PageFileWriter::Flush() {
  const Status status = file_->Append(pending_);
  pending_.clear();
  return status;
}

Status PageFileWriter::FinishFile(std::string_view summary) {
  Check(summary.size() <= kPageBytesMax);
  PageFileTail tail;
  tail.summary_offset = index_.end();
  const std::size_t before = pending_.size();
  AppendFrame({std::string(summary)}, tail.summary_offset, *encoder_, pending_);
  tail.index_offset = tail.summary_offset + pending_.size() - before;
  AppendFrame({index_.Format()}, tail.index_offset, *encoder_, pending_);
  const std::uint64_t end = tail.summary_offset + pending_.size() - before;
  pending_ += FormatPageFileTail(tail, end);
  if (const Status status = Flush(); !status) return status;
  if (const Status status = file_->Sync(); !status) return status;
  return file_->Close();
}

Status PageFileWriter::Finish(std::string_view summary) {
  if (const Status status = FinishFile(summary); !status) return status;
  if (const Status status = fs_.Rename(path_ + ".new", path_); !status) return status;
  file_.reset();
  return fs_.SyncDirectory(io::ParentDirectory(path_));
}

}  // namespace stele::catalog
