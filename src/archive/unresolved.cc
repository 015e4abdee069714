#include "archive/unresolved.h"

#include <functional>

#include "archive/revisit_resolver.h"
#include "archive/wanted_payloads.h"

namespace stele::archive {
namespace {

using catalog::Capture;

class Counter {
 public:
  Counter(const ArchiveView& view, std::uint32_t run, std::size_t look_ups_max)
      : view_(view), run_(run), look_ups_max_(look_ups_max) {}

  Result<std::uint64_t> Run() {
    std::vector<std::uint64_t> payloads;
    Status read = ForEachRowOfRun([&](const Capture& row) {
      if ((row.flags & catalog::kRevisit) == 0) return;
      revisits_.push_back({row.id, PayloadOf(row)});
      if (revisits_.back().payload != 0) payloads.push_back(revisits_.back().payload);
    });
    if (!read) return read.error();
    if (revisits_.empty()) return std::uint64_t{0};
    WantedPayloads wanted(std::move(payloads));
    read = ForEachRowOfRun([&](const Capture& row) { wanted.FindIn(row); });
    if (!read) return read.error();
    DropResolved(wanted);
    if (revisits_.size() > look_ups_max_) {
      if (read = FindInAll(wanted); !read) return read.error();
      all_were_asked_ = true;
      DropResolved(wanted);
    }
    return LookUp();
  }

 private:
  struct Revisit {
    catalog::CaptureId id;
    std::uint64_t payload = 0;  // 0: it does not say
  };

  Status ForEachRowOfRun(const std::function<void(const Capture&)>& take) const {
    for (const auto& [number, container] : view_.holdings().containers()) {
      if (container.run != run_) continue;
      const Status read =
          view_.ForEachCapture(container, [&](const ContainerCapture& capture) -> Status {
            take(capture.row);
            return {};
          });
      if (!read) return read;
    }
    return {};
  }

  Status FindInAll(WantedPayloads& wanted) const {
    catalog::CaptureScan scan = view_.catalog().Scan({});
    for (;;) {
      const Result<const Capture*> row = scan.Next();
      if (!row) return row.error();
      if (*row == nullptr) return {};
      if (((*row)->flags & catalog::kRemoved) == 0) wanted.FindIn(**row);
    }
  }

  void DropResolved(const WantedPayloads& wanted) {
    std::erase_if(revisits_, [&](const Revisit& revisit) {
      return revisit.payload != 0 && !wanted.Lacks(revisit.payload);
    });
  }

  Result<std::uint64_t> LookUp() const {
    const RevisitResolver resolver(view_, RevisitResolver::Effort::kLookUps);
    std::uint64_t unresolved = 0;
    for (const Revisit& revisit : revisits_) {
      if (revisit.payload != 0 && all_were_asked_) {
        ++unresolved;
        continue;
      }
      const Result<catalog::HeldCapture> held = view_.catalog().Get(revisit.id);
      if (!held) return held.error();
      const Result<catalog::HeldCapture> original = resolver.Resolve(*held);
      if (!original && original.error().code != ErrorCode::kNotFound) return original.error();
      if (!original) ++unresolved;
    }
    return unresolved;
  }

  const ArchiveView& view_;
  const std::uint32_t run_;
  const std::size_t look_ups_max_;
  std::vector<Revisit> revisits_;  // of which it is not known yet that their payload is here
  bool all_were_asked_ = false;    // all captures, for their payloads
};

}  // namespace

Result<std::uint64_t> CountUnresolved(const ArchiveView& view, std::uint32_t run,
                                      std::size_t look_ups_max) {
  return Counter(view, run, look_ups_max).Run();
}

}  // namespace stele::archive
