#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

// The root of a catalog: which files it consists of. docs/formats/location.md.
namespace stele::catalog {

struct Manifest {
  struct Run {
    std::uint64_t number = 0;  // of its file
    std::uint32_t level = 0;   // how many merges its entries went through
    friend bool operator==(const Run&, const Run&) = default;
  };
  struct Segment {
    std::uint32_t batch = 0;
    std::uint64_t number = 0;
    std::uint32_t level = 0;
    friend bool operator==(const Segment&, const Segment&) = default;
  };
  // A batch whose entries were forgotten: runs with smaller numbers may still have them.
  struct Dropped {
    std::uint32_t batch = 0;
    std::uint64_t before = 0;
    friend bool operator==(const Dropped&, const Dropped&) = default;
  };

  std::uint64_t next_file = 1;
  std::uint64_t first_log = 1;  // logs from here on have rows that are in no run
  std::vector<Run> runs;
  std::vector<Segment> segments;
  // The numbers of the PISA segments, in the order of time.
  std::vector<std::uint64_t> pisa;
  // The numbers of runs with entries that PISA segments do not have. A run that is not among `runs`
  // is kept for this only.
  std::vector<std::uint64_t> loose;
  std::vector<Dropped> dropped;

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

std::string FormatManifest(const Manifest& manifest);
// Errors: kCorrupt.
Result<Manifest> ParseManifest(std::string_view text);

// Names in the directory of a catalog.
std::string ManifestPath(const std::string& directory);
std::string LogPath(const std::string& directory, std::uint64_t number);
std::string RunPath(const std::string& directory, std::uint64_t number);
std::string PisaPath(const std::string& directory, std::uint64_t number);
std::string SegmentPath(const std::string& directory, std::uint32_t batch, std::uint64_t number);
std::string RunDirectory(const std::string& directory);
std::string CaptureDirectory(const std::string& directory);
std::string BatchDirectory(const std::string& directory, std::uint32_t batch);

}  // namespace stele::catalog
