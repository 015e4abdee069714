// A catalog that takes the place of another is filled beside it. Its files have numbers that none
// of the other's has, so that they can lie among them while the other's manifest counts; the one
// replacement of that manifest makes them the catalog. Whoever opens it then removes the others.
#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/catalog_files.h"
#include "util/ascii.h"

namespace stele::catalog {
namespace {

// Numbers in names that no catalog gave do not count.
constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 60;

// One more than the greatest number that a file in `directory` has, or `least`.
Result<std::uint64_t> NumberAfter(io::FileSystem& fs, const std::string& directory,
                                  std::uint64_t least) {
  const Result<std::vector<std::string>> names = fs.List(directory);
  if (!names && names.error().code == ErrorCode::kNotFound) return least;
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const auto number = ParseDecimal(std::string_view(name).substr(0, name.find('.')));
    if (number && *number < kNumberMax) least = std::max(least, *number + 1);
  }
  return least;
}

// Of a catalog without files whose numbers come behind those of the one in `directory`.
Result<Manifest> ManifestAfter(io::FileSystem& fs, const std::string& directory) {
  Manifest after;
  const Result<Manifest> old = ReadManifest(fs, directory);
  if (!old && old.error().code == ErrorCode::kIo) return old.error();
  if (old) {
    after.next_file = old->next_file;
    after.first_log = old->first_log;
  }
  const Result<std::uint64_t> log = NumberAfter(fs, directory, after.first_log);
  if (!log) return log.error();
  after.first_log = *log;
  std::vector<std::string> directories = {RunDirectory(directory)};
  const Result<std::vector<std::string>> batches = fs.List(CaptureDirectory(directory));
  if (!batches && batches.error().code != ErrorCode::kNotFound) return batches.error();
  if (batches) {
    for (const std::string& batch : *batches) {
      directories.push_back(CaptureDirectory(directory) + '/' + batch);
    }
  }
  for (const std::string& path : directories) {
    const Result<std::uint64_t> file = NumberAfter(fs, path, after.next_file);
    if (!file) return file.error();
    after.next_file = *file;
  }
  return after;
}

}  // namespace

Result<std::unique_ptr<Catalog>> Catalog::OpenBeside(io::FileSystem& fs, const std::string& other,
                                                     std::string directory, PageCache& cache,
                                                     CatalogOptions options) {
  const Result<Manifest> manifest = ManifestAfter(fs, other);
  if (!manifest) return manifest.error();
  if (const Status made = fs.MakeDirectory(directory); !made) return made.error();
  const Status written = io::ReplaceFile(fs, ManifestPath(directory), FormatManifest(*manifest));
  if (!written) return written.error();
  return Open(fs, std::move(directory), cache, options);
}

Status Catalog::TakePlaceOf(const std::string& other) {
  const std::scoped_lock locks(building_, maintenance_);
  if (const Status flushed = FlushAll(); !flushed) return flushed;
  const Manifest& manifest = files_->manifest;
  std::set<std::string> directories;
  Status moved;
  const auto move = [&](const std::string& from, const std::string& to) {
    const std::string directory = io::ParentDirectory(to);
    if (moved && directories.insert(directory).second) moved = fs_.MakeDirectory(directory);
    if (moved) moved = fs_.Rename(from, to);
  };
  if (const Status made = fs_.MakeDirectory(CaptureDirectory(other)); !made) return made;
  std::set<std::uint64_t> runs(manifest.loose.begin(), manifest.loose.end());
  for (const Manifest::Run& run : manifest.runs) runs.insert(run.number);
  for (const std::uint64_t number : runs) {
    move(RunPath(directory_, number), RunPath(other, number));
  }
  for (const std::uint64_t number : manifest.pisa) {
    move(PisaPath(directory_, number), PisaPath(other, number));
  }
  for (const Manifest::Segment& segment : manifest.segments) {
    move(SegmentPath(directory_, segment.batch, segment.number),
         SegmentPath(other, segment.batch, segment.number));
  }
  if (!moved) return moved;
  directories.insert(CaptureDirectory(other));
  directories.insert(other);
  for (const std::string& directory : directories) {
    if (const Status synced = fs_.SyncDirectory(directory); !synced) return synced;
  }
  return io::ReplaceFile(fs_, ManifestPath(other), FormatManifest(manifest));
}

}  // namespace stele::catalog
