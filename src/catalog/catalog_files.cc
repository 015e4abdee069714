#include "catalog/catalog_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/remedy.h"
#include "util/ascii.h"

namespace stele::catalog {

Result<Manifest> ReadManifest(io::FileSystem& fs, const std::string& directory) {
  const Result<std::string> text = io::ReadFile(fs, ManifestPath(directory));
  if (!text) return text.error();
  Result<Manifest> manifest = ParseManifest(*text);
  if (manifest) return manifest;
  return Error{ErrorCode::kCorrupt, fmt::format("{}: {}; {}", ManifestPath(directory),
                                                manifest.error().text, kReindexRemedy)};
}

namespace {

// Says of a missing file what to do about it; of others their own error does.
Error Advised(const Error& error, std::string_view remedy) {
  if (error.code != ErrorCode::kNotFound) return error;
  return {error.code, fmt::format("{}; {}", error.text, remedy)};
}

// Null when it is not there.
std::shared_ptr<const LocationRun> FindRun(const CatalogFiles& files, std::uint64_t number) {
  for (std::size_t i = 0; i < files.runs.size(); ++i) {
    if (files.manifest.runs[i].number == number) return files.runs[i];
  }
  for (std::size_t i = 0; i < files.loose.size(); ++i) {
    if (files.manifest.loose[i] == number) return files.loose[i];
  }
  return nullptr;
}

// PISA segments and loose runs. Requires: `files` has its manifest and its runs.
Status OpenPisa(io::FileSystem& fs, const std::string& directory, const CatalogFiles& open,
                PageCache& cache, CatalogFiles& files) {
  for (const std::uint64_t number : files.manifest.pisa) {
    const auto& known = open.manifest.pisa;
    const auto same = std::find(known.begin(), known.end(), number);
    if (same != known.end()) {
      files.pisa.push_back(open.pisa[static_cast<std::size_t>(same - known.begin())]);
      continue;
    }
    auto segment = PisaSegment::Open(fs, PisaPath(directory, number), cache);
    if (!segment) return Advised(segment.error(), kReindexRemedy);
    files.pisa.push_back(std::move(*segment));
  }
  for (const std::uint64_t number : files.manifest.loose) {
    std::shared_ptr<const LocationRun> run = FindRun(files, number);
    if (run == nullptr) run = FindRun(open, number);
    if (run == nullptr) {
      auto opened = LocationRun::Open(fs, RunPath(directory, number), cache);
      if (!opened) return Advised(opened.error(), kReindexRemedy);
      run = std::move(*opened);
    }
    files.loose.push_back(std::move(run));
  }
  return CheckPisaTimeline(files.pisa);
}

}  // namespace

Result<std::shared_ptr<const CatalogFiles>> OpenFiles(io::FileSystem& fs,
                                                      const std::string& directory,
                                                      const Manifest& manifest,
                                                      const CatalogFiles* open, PageCache& cache) {
  static const CatalogFiles kNone;
  if (open == nullptr) open = &kNone;
  auto files = std::make_shared<CatalogFiles>();
  files->manifest = manifest;
  for (const Manifest::Run& line : manifest.runs) {
    if (std::shared_ptr<const LocationRun> known = FindRun(*open, line.number)) {
      files->runs.push_back(std::move(known));
      continue;
    }
    auto run = LocationRun::Open(fs, RunPath(directory, line.number), cache);
    if (!run) return Advised(run.error(), kReindexRemedy);
    files->runs.push_back(std::move(*run));
  }
  if (const Status status = OpenPisa(fs, directory, *open, cache, *files); !status) {
    return status.error();
  }
  for (const Manifest::Segment& line : manifest.segments) {
    const auto& known = open->manifest.segments;
    const auto same = std::find(known.begin(), known.end(), line);
    if (same != known.end()) {
      files->segments.push_back(open->segments[static_cast<std::size_t>(same - known.begin())]);
      continue;
    }
    const std::string remedy = ReindexRemedy(line.batch);
    auto segment =
        CaptureSegment::Open(fs, SegmentPath(directory, line.batch, line.number), cache, remedy);
    if (!segment) return Advised(segment.error(), remedy);
    files->segments.push_back(std::move(*segment));
  }
  return std::shared_ptr<const CatalogFiles>(std::move(files));
}

namespace {

// Those with this ending, or with it and that of a file that was not finished.
Status RemoveUnnamed(io::FileSystem& fs, const std::string& directory, const std::string& ending,
                     const std::set<std::string>& named) {
  const Result<std::vector<std::string>> names = fs.List(directory);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const std::string path = directory + '/' + name;
    if (named.contains(path)) continue;
    if (!name.ends_with(ending) && !name.ends_with(ending + ".new")) continue;
    if (const Status status = fs.Remove(path); !status) return status;
  }
  return {};
}

}  // namespace

Status RemoveStrays(io::FileSystem& fs, const std::string& directory, const Manifest& manifest) {
  std::set<std::string> named;
  for (const Manifest::Run& run : manifest.runs) named.insert(RunPath(directory, run.number));
  for (const std::uint64_t number : manifest.loose) named.insert(RunPath(directory, number));
  for (const std::uint64_t number : manifest.pisa) named.insert(PisaPath(directory, number));
  for (const Manifest::Segment& segment : manifest.segments) {
    named.insert(SegmentPath(directory, segment.batch, segment.number));
  }
  for (const char* ending : {".run", ".pisa"}) {
    const Status status = RemoveUnnamed(fs, RunDirectory(directory), ending, named);
    if (!status) return status;
  }
  const Result<std::vector<std::string>> batches = fs.List(CaptureDirectory(directory));
  if (!batches) return batches.error();
  for (const std::string& batch : *batches) {
    const std::string path = CaptureDirectory(directory) + '/' + batch;
    if (const Status status = RemoveUnnamed(fs, path, ".rows", named); !status) return status;
  }
  const Result<std::vector<std::string>> names = fs.List(directory);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (!name.ends_with(".log")) continue;
    const auto number = ParseDecimal(std::string_view(name).substr(0, name.size() - 4));
    if (!number || *number >= manifest.first_log) continue;
    if (const Status status = fs.Remove(directory + '/' + name); !status) return status;
  }
  return {};
}

}  // namespace stele::catalog
