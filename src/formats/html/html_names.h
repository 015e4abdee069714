#pragma once

#include <cstdint>
#include <string_view>

// The tags and attributes that link extraction knows, by one table look-up each.
namespace stele::html {

enum class TagId : std::uint8_t {
  kOther,
  kA,
  kApplet,
  kArea,
  kBase,
  kButton,
  kEmbed,
  kFeimage,
  kForm,
  kFrame,
  kIframe,
  kImage,
  kImg,
  kInput,
  kLink,
  kMeta,
  kNoembed,
  kNoframes,
  kObject,
  kParam,
  kScript,
  kSource,
  kStyle,
  kUse,
};

enum class AttributeId : std::uint8_t {
  kOther,
  kAction,
  kArchive,
  kBackground,
  kCite,
  kClassid,
  kCode,
  kCodebase,
  kContent,
  kData,
  kDynsrc,
  kFormaction,
  kFormmethod,
  kHref,
  kHttpEquiv,
  kImagesrcset,
  kItemprop,
  kLongdesc,
  kLowsrc,
  kManifest,
  kMethod,
  kName,
  kPoster,
  kProfile,
  kProperty,
  kRel,
  kSrc,
  kSrcdoc,
  kSrcset,
  kStyle,
  kType,
  kUsemap,
  kValue,
  kXlinkHref,
  // Families: the name only begins like this.
  kDataStar,  // data-...
  kOnStar,    // onclick, onload, ...
};

inline constexpr int kAttributeIdCount = static_cast<int>(AttributeId::kOnStar) + 1;

// Names in lower case, as the tokenizer gives them.
TagId TagIdOf(std::string_view name);
AttributeId AttributeIdOf(std::string_view name);

// What the data-* attributes of lazy loading libraries hold.
enum class LazyValue : std::uint8_t { kNone, kUrl, kSrcset, kBackground, kMaybeUrl };
struct LazyAttribute {
  std::string_view name;
  LazyValue value = LazyValue::kNone;
  std::string_view context;
};
// kNone for data-* attributes that name nothing known.
LazyAttribute LazyAttributeOf(std::string_view name);

}  // namespace stele::html
