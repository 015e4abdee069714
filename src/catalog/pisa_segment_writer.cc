#include "catalog/pisa_segment_writer.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "catalog/pisa_page.h"
#include "util/check.h"

namespace stele::catalog {

Result<std::unique_ptr<PisaSegmentWriter>> PisaSegmentWriter::Create(
    io::FileSystem& fs, std::string path, const PisaSegmentOptions& options) {
  Check(options.first < options.end && options.limits.Valid());
  Result<std::unique_ptr<PageFileWriter>> file =
      PageFileWriter::Create(fs, std::move(path), kPisaSegmentKind);
  if (!file) return file.error();
  return std::unique_ptr<PisaSegmentWriter>(new PisaSegmentWriter(options, std::move(*file)));
}

PisaSegmentWriter::PisaSegmentWriter(const PisaSegmentOptions& options,
                                     std::unique_ptr<PageFileWriter> file)
    : options_(options), file_(std::move(file)) {
  summary_.first = options.first;
  summary_.end = options.end;
  summary_.limits = options.limits;
  summary_.clock = options.clock;
}

PisaSegmentWriter::~PisaSegmentWriter() = default;

std::string_view PisaSegmentWriter::KeyOf(std::size_t key) const {
  const std::size_t begin = key == 0 ? 0 : key_ends_[key - 1];
  return std::string_view(keys_).substr(begin, key_ends_[key] - begin);
}

Status PisaSegmentWriter::Add(std::string_view key, Timestamp time, CaptureId capture) {
  const auto invalid = [&](std::string_view what) {
    return Error{ErrorCode::kInvalid,
                 "a segment takes no capture " + std::string(what) + ": " + std::string(key)};
  };
  if (key.size() > options_.limits.key_bytes_max) return invalid("with so long a key");
  if (time >= options_.end) return invalid("from after its end");
  const std::string_view last = key_ends_.empty() ? "" : KeyOf(key_ends_.size() - 1);
  if (!key_ends_.empty() && key < last) return invalid("whose key is before that of the last one");
  if (key_ends_.empty() || key != last) {
    const std::size_t bytes = keys_.size() + items_.size() * sizeof(Item);
    if (bytes >= options_.part_bytes_max) {
      if (Status status = WritePart(); !status) return status;
    }
    StartKey(key);
  } else {
    const Item& before = items_.back();
    if (time < before.time) return invalid("that is older than the last one of its key");
    if (time == before.time || time <= options_.first) items_.pop_back();
  }
  items_.push_back({static_cast<std::uint32_t>(key_ends_.size() - 1), time, capture});
  return {};
}

void PisaSegmentWriter::StartKey(std::string_view key) {
  keys_ += key;
  key_ends_.push_back(keys_.size());
  ++summary_.keys;
}

// Makes a tree of what was collected, and pages of the tree.
Status PisaSegmentWriter::WritePart() {
  std::string first_key;
  if (!summary_.parts.empty()) first_key = KeyOf(0);
  Pisa tree({options_.limits, options_.first, std::move(first_key), false});
  const auto born_later = std::stable_partition(
      items_.begin(), items_.end(), [&](const Item& item) { return item.time < options_.first; });
  for (auto item = items_.begin(); item != born_later; ++item) {
    const Status carried = tree.Carry(KeyOf(item->key), item->time, item->capture);
    Check(carried.ok());
  }
  std::stable_sort(born_later, items_.end(),
                   [](const Item& a, const Item& b) { return a.time < b.time; });
  for (auto item = born_later; item != items_.end(); ++item) {
    const Status inserted = tree.Insert(KeyOf(item->key), item->time, item->capture);
    Check(inserted.ok());
  }
  summary_.carried += static_cast<std::uint64_t>(born_later - items_.begin());
  summary_.captures += static_cast<std::uint64_t>(items_.end() - born_later);
  keys_.clear();
  key_ends_.clear();
  items_.clear();

  const Result<std::vector<PisaBlockNumber>> numbers = WriteBlocks(tree);
  if (!numbers) return numbers.error();
  summary_.parts.push_back(tree.parts()[0]);
  for (PisaRoot& root : summary_.parts.back().roots) root.block = (*numbers)[root.block];
  return {};
}

// Data blocks first, and those of neighbouring keys beside each other. Returns the page of each.
Result<std::vector<PisaBlockNumber>> PisaSegmentWriter::WriteBlocks(const Pisa& tree) {
  std::vector<PisaBlockPointer> blocks;
  for (PisaBlockNumber number = 0; number < tree.block_count(); ++number) {
    blocks.push_back(*tree.Read(number));
  }
  std::vector<PisaBlockNumber> order(blocks.size());
  std::iota(order.begin(), order.end(), PisaBlockNumber{0});
  std::sort(order.begin(), order.end(), [&](PisaBlockNumber a, PisaBlockNumber b) {
    return std::tuple(blocks[a]->level(), blocks[a]->index_key(), blocks[a]->birth()) <
           std::tuple(blocks[b]->level(), blocks[b]->index_key(), blocks[b]->birth());
  });
  std::vector<PisaBlockNumber> numbers(blocks.size());
  for (std::size_t i = 0; i < order.size(); ++i) numbers[order[i]] = file_->pages() + i;
  for (const PisaBlockNumber number : order) {
    const Result<std::uint32_t> page =
        file_->Append(FormatPisaPage(*blocks[number], numbers, summary_.clock));
    if (!page) return page.error();
    Check(*page == numbers[number]);
  }
  return numbers;
}

Status PisaSegmentWriter::Finish() {
  if (Status status = WritePart(); !status) return status;
  return file_->Finish(FormatPisaSummary(summary_));
}

}  // namespace stele::catalog
