#include <cstddef>
#include <cstdint>

#include "store/remote/wire.h"
#include "store/remote/wire_compact.h"
#include "store/remote/wire_members.h"
#include "util/check.h"

// Queries that are read are written and read again as the same; answers of any bytes are read or
// refused, and keys in them are of the content that was asked about.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = stele::store::wire;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto query = wire::ParseQuery(text);
  if (query && !query->empty()) {
    const auto again = wire::ParseQuery(wire::FormatQuery(*query));
    Check(again && *again == *query);
    const auto request = wire::StoreRequestFrom(*query);
    if (request) {
      const auto same = wire::StoreRequestFrom(wire::QueryOf(*request));
      Check(same && same->signature == request->signature && same->size == request->size);
      Check(same->mode == request->mode && same->media_type == request->media_type &&
            same->codec == request->codec);
      Check(same->operation == request->operation);
    }
    const auto list = wire::ListRequestFrom(*query);
    if (list) {
      const auto same = wire::ListRequestFrom(wire::QueryOf(*list));
      Check(same && same->after == list->after && same->limit == list->limit);
      Check(same->owner == list->owner);
    }
    const auto page = wire::OperationsRequestFrom(*query);
    if (page) {
      const auto same = wire::OperationsRequestFrom(wire::QueryOf(*page));
      Check(same && same->after == page->after && same->limit == page->limit);
    }
  }
  const stele::store::Signature signature("\xAD\xEE");
  const auto lookup = wire::LookupFrom(text, "v", signature);
  Check(!lookup || !lookup->key || (lookup->key->volume == "v"));
  const auto stored = wire::StoredFrom(text, "v", signature);
  Check(!stored || stored->key.signature == signature);
  const auto info = wire::InfoFrom(text);
  if (info) Check(wire::InfoFrom(wire::InfoJson({"v", signature, 0}, *info)).ok());
  const auto stats = wire::StatsFrom(text);
  if (stats) {
    const auto state = stele::store::VolumeState::kWritable;
    Check(wire::StatsFrom(wire::StatsJson("v", state, *stats)).ok());
  }
  const auto listed = wire::ListFrom(text);
  if (listed) Check(wire::ListFrom(wire::ListJson(*listed)).value() == *listed);
  const auto operations = wire::OperationsFrom(text);
  if (operations) {
    Check(wire::OperationsFrom(wire::OperationsJson(*operations)).value() == *operations);
  }
  const auto owners = wire::OwnersFrom(text);
  if (owners) Check(wire::OwnersFrom(wire::OwnersJson(*owners)).value() == *owners);
  const auto held = wire::HeldFrom(text);
  if (held) Check(wire::HeldFrom(wire::HeldJson(*held)).value() == *held);
  if (const auto line = wire::CompactLineFrom(text)) {
    const auto again = wire::CompactLineFrom(wire::CompactLineJson(*line));
    Check(again && again->index() == line->index());
  }
  if (const auto lines = wire::ParseSignatures(text)) Check(wire::FormatSignatures(*lines) == text);
  if (const auto lines = wire::ParseOwed(text)) Check(wire::FormatOwed(*lines) == text);
  if (const auto lines = wire::ParseMoves(text)) Check(wire::FormatMoves(*lines) == text);
  Check(wire::ErrorFrom(text).text.size() <= 1100);
  return 0;
}
