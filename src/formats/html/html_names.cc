// A perfect hash made by the compiler: length, first and middle byte select a slot, in which at
// most one name may stand. The static_asserts at the tables say so; a new name that breaks them
// needs other multipliers.
#include "formats/html/html_names.h"

#include <array>
#include <cstddef>

#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr std::size_t kSlots = 256;

template <typename Id>
struct Name {
  std::string_view name;
  Id id{};
};

constexpr std::size_t SlotOf(std::string_view name) {
  const auto byte = [](char c) { return static_cast<std::size_t>(static_cast<unsigned char>(c)); };
  return (name.size() * 1 + byte(name[0]) * 2 + byte(name[name.size() / 2]) * 47) % kSlots;
}

template <typename Id, std::size_t kCount>
struct NameTable {
  std::array<Name<Id>, kSlots> slots{};
  bool perfect = true;

  constexpr explicit NameTable(const std::array<Name<Id>, kCount>& names) {
    for (const Name<Id>& name : names) {
      Name<Id>& slot = slots[SlotOf(name.name)];
      perfect = perfect && slot.name.empty();
      slot = name;
    }
  }

  Id Find(std::string_view name) const {
    if (name.empty()) return Id::kOther;
    const Name<Id>& slot = slots[SlotOf(name)];
    return slot.name == name ? slot.id : Id::kOther;
  }
};

constexpr auto kTagNames = std::to_array<Name<TagId>>({
    {"a", TagId::kA},
    {"applet", TagId::kApplet},
    {"area", TagId::kArea},
    {"base", TagId::kBase},
    {"button", TagId::kButton},
    {"embed", TagId::kEmbed},
    {"feimage", TagId::kFeimage},
    {"form", TagId::kForm},
    {"frame", TagId::kFrame},
    {"iframe", TagId::kIframe},
    {"image", TagId::kImage},
    {"img", TagId::kImg},
    {"input", TagId::kInput},
    {"link", TagId::kLink},
    {"meta", TagId::kMeta},
    {"noembed", TagId::kNoembed},
    {"noframes", TagId::kNoframes},
    {"object", TagId::kObject},
    {"param", TagId::kParam},
    {"script", TagId::kScript},
    {"source", TagId::kSource},
    {"style", TagId::kStyle},
    {"use", TagId::kUse},
});

constexpr auto kAttributeNames = std::to_array<Name<AttributeId>>({
    {"action", AttributeId::kAction},
    {"archive", AttributeId::kArchive},
    {"background", AttributeId::kBackground},
    {"cite", AttributeId::kCite},
    {"classid", AttributeId::kClassid},
    {"code", AttributeId::kCode},
    {"codebase", AttributeId::kCodebase},
    {"content", AttributeId::kContent},
    {"data", AttributeId::kData},
    {"dynsrc", AttributeId::kDynsrc},
    {"formaction", AttributeId::kFormaction},
    {"formmethod", AttributeId::kFormmethod},
    {"href", AttributeId::kHref},
    {"http-equiv", AttributeId::kHttpEquiv},
    {"imagesrcset", AttributeId::kImagesrcset},
    {"itemprop", AttributeId::kItemprop},
    {"longdesc", AttributeId::kLongdesc},
    {"lowsrc", AttributeId::kLowsrc},
    {"manifest", AttributeId::kManifest},
    {"method", AttributeId::kMethod},
    {"name", AttributeId::kName},
    {"poster", AttributeId::kPoster},
    {"profile", AttributeId::kProfile},
    {"property", AttributeId::kProperty},
    {"rel", AttributeId::kRel},
    {"src", AttributeId::kSrc},
    {"srcdoc", AttributeId::kSrcdoc},
    {"srcset", AttributeId::kSrcset},
    {"style", AttributeId::kStyle},
    {"type", AttributeId::kType},
    {"usemap", AttributeId::kUsemap},
    {"value", AttributeId::kValue},
    {"xlink:href", AttributeId::kXlinkHref},
});

constexpr NameTable<TagId, kTagNames.size()> kTags(kTagNames);
constexpr NameTable<AttributeId, kAttributeNames.size()> kAttributes(kAttributeNames);
static_assert(kTags.perfect);
static_assert(kAttributes.perfect);

constexpr LazyAttribute kLazyAttributes[] = {
    {"data-src", LazyValue::kUrl, "@data-src"},
    {"data-src-small", LazyValue::kUrl, "@data-src-small"},
    {"data-src-medium", LazyValue::kUrl, "@data-src-medium"},
    {"data-src-large", LazyValue::kUrl, "@data-src-large"},
    {"data-srcset", LazyValue::kSrcset, "@data-srcset"},
    {"data-original", LazyValue::kUrl, "@data-original"},
    {"data-original-set", LazyValue::kSrcset, "@data-original-set"},
    {"data-lazy", LazyValue::kUrl, "@data-lazy"},
    {"data-lazy-src", LazyValue::kUrl, "@data-lazy-src"},
    {"data-lazy-srcset", LazyValue::kSrcset, "@data-lazy-srcset"},
    {"data-full-src", LazyValue::kUrl, "@data-full-src"},
    {"data-poster", LazyValue::kUrl, "@data-poster"},
    {"data-bg", LazyValue::kBackground, "@data-bg"},
    {"data-background", LazyValue::kBackground, "@data-background"},
    {"data-background-image", LazyValue::kBackground, "@data-background-image"},
    {"data-url", LazyValue::kMaybeUrl, "@data-url"},
    {"data-href", LazyValue::kMaybeUrl, "@data-href"},
};

}  // namespace

TagId TagIdOf(std::string_view name) { return kTags.Find(name); }

AttributeId AttributeIdOf(std::string_view name) {
  const AttributeId id = kAttributes.Find(name);
  if (id != AttributeId::kOther) return id;
  if (name.starts_with("data-")) return AttributeId::kDataStar;
  if (name.size() > 3 && name.starts_with("on")) return AttributeId::kOnStar;
  return AttributeId::kOther;
}

LazyAttribute LazyAttributeOf(std::string_view name) {
  for (const LazyAttribute& lazy : kLazyAttributes) {
    if (lazy.name == name) return lazy;
  }
  return {};
}

}  // namespace stele::html
