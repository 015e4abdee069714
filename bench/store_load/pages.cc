// A page is the frame of one of some sites, with its navigation and style, around paragraphs and
// tables of words. Words are made of syllables and drawn so that few are frequent, as in language.
#include "store_load/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <random>
#include <string_view>

namespace stele::bench {
namespace {

constexpr std::size_t kWords = 12'000;
constexpr std::size_t kSites = 40;
constexpr std::size_t kPageBytesMin = 2'000;
constexpr double kSpread = 0.5;  // of the logarithm of the sizes
constexpr std::array<std::string_view, 40> kSyllables{
    "ca", "do",  "ri", "ta",  "men", "te",  "por", "tu",  "gal", "lis", "bo", "a",  "ção", "es",
    "is", "to",  "ra", "mos", "que", "um",  "de",  "no",  "ver", "sal", "in", "ex", "pre", "con",
    "li", "vro", "ar", "qui", "vo",  "web", "na",  "cio", "nal", "pa",  "gi", "nas"};

// The standard's distributions give other numbers with other libraries; these do not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  double Unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }
  double Normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += Unit();
    return sum - 6;
  }

 private:
  std::mt19937_64 engine_;
};

class Writer {
 public:
  Writer() {
    Dice dice(1);
    for (std::size_t i = 0; i < kWords; ++i) {
      std::string word;
      const std::size_t syllables = 1 + dice.Below(4);
      for (std::size_t j = 0; j < syllables; ++j) word += kSyllables[dice.Below(kSyllables.size())];
      words_.push_back(std::move(word));
    }
    for (std::size_t i = 0; i < kSites; ++i) frames_.push_back(Frame(dice, i));
  }

  std::string Page(std::uint64_t seed, std::size_t number, std::size_t size) const {
    Dice dice(seed * 1'000'003 + number);
    std::string page = frames_[dice.Below(kSites)];
    fmt::format_to(std::back_inserter(page), "<h1 id=\"p{}-{}\">{} {}</h1>\n", seed, number,
                   Word(dice), Word(dice));
    while (page.size() < size) {
      if (dice.Below(6) == 0) {
        AppendTable(dice, page);
      } else {
        AppendParagraph(dice, page);
      }
    }
    constexpr std::string_view kEnd = "</body></html>\n";
    page.resize(size - kEnd.size());
    return page.append(kEnd);
  }

 private:
  const std::string& Word(Dice& dice) const {
    const double unit = dice.Unit();
    return words_[static_cast<std::size_t>(unit * unit * unit * static_cast<double>(kWords))];
  }

  std::string Frame(Dice& dice, std::size_t site) const {
    std::string frame = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"pt\"><head><meta charset=\"utf-8\"><title>{}</title>\n"
        "<link rel=\"stylesheet\" href=\"/style-{}.css\"></head>\n<body><ul class=\"menu\">\n",
        Word(dice), site);
    const std::size_t links = 4 + dice.Below(12);
    for (std::size_t i = 0; i < links; ++i) {
      fmt::format_to(std::back_inserter(frame), "<li><a href=\"/{}/{}.html\">{}</a></li>\n",
                     Word(dice), Word(dice), Word(dice));
    }
    return frame += "</ul>\n";
  }

  void AppendParagraph(Dice& dice, std::string& page) const {
    page += "<p>";
    const std::size_t words = 20 + dice.Below(60);
    for (std::size_t i = 0; i < words; ++i) {
      if (dice.Below(18) == 0) {
        fmt::format_to(std::back_inserter(page), "<a href=\"/{}/{}\">{}</a> ", Word(dice),
                       dice.Below(100'000), Word(dice));
      } else {
        page += Word(dice);
        page += i % 13 == 12 ? ". " : " ";
      }
    }
    page += "</p>\n";
  }

  void AppendTable(Dice& dice, std::string& page) const {
    page += "<table class=\"list\" cellpadding=\"2\">\n";
    const std::size_t rows = 3 + dice.Below(10);
    for (std::size_t i = 0; i < rows; ++i) {
      fmt::format_to(std::back_inserter(page),
                     "<tr><td class=\"date\">{:02}-{:02}-2006</td><td>{} {}</td>"
                     "<td align=\"right\">{}</td></tr>\n",
                     1 + dice.Below(28), 1 + dice.Below(12), Word(dice), Word(dice),
                     dice.Below(10'000));
    }
    page += "</table>\n";
  }

  std::vector<std::string> words_;
  std::vector<std::string> frames_;
};

// Their sum is exactly count * average.
std::vector<std::size_t> Sizes(std::size_t count, std::size_t average, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<double> drawn(count);
  double sum = 0;
  for (double& size : drawn) sum += size = std::exp(kSpread * dice.Normal());
  std::vector<std::size_t> sizes;
  const std::size_t smallest = std::min(kPageBytesMin, average);
  const auto rest = static_cast<double>((average - smallest) * count);
  std::size_t total = 0;
  for (const double size : drawn) {
    sizes.push_back(smallest + static_cast<std::size_t>(size / sum * rest));
    total += sizes.back();
  }
  sizes.back() += count * average - total;
  return sizes;
}

}  // namespace

std::vector<std::string> MakePages(std::size_t count, std::size_t average_bytes,
                                   std::uint64_t seed) {
  const Writer writer;
  std::vector<std::string> pages;
  for (const std::size_t size : Sizes(count, average_bytes, seed)) {
    pages.push_back(writer.Page(seed, pages.size(), size));
  }
  return pages;
}

}  // namespace stele::bench
