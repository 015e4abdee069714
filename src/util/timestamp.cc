// Days are counted by the calendar rule of 400 years: with March as first month, the leap day is
// the last of the year and every formula is linear.
#include "util/timestamp.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "util/ascii.h"

namespace stele {
namespace {

struct Civil {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int millisecond = 0;
};

constexpr std::int64_t kMillisecondsPerDay = 86'400'000;

std::int64_t DaysFromCivil(int year, int month, int day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

Civil CivilOf(Timestamp time) {
  std::int64_t days = time.milliseconds / kMillisecondsPerDay;
  std::int64_t rest = time.milliseconds % kMillisecondsPerDay;
  if (rest < 0) {
    rest += kMillisecondsPerDay;
    --days;
  }
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  Civil civil;
  civil.day = static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  civil.month =
      static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  civil.year = static_cast<int>(year_of_era + era * 400 + (civil.month <= 2 ? 1 : 0));
  civil.hour = static_cast<int>(rest / 3'600'000);
  civil.minute = static_cast<int>(rest / 60'000 % 60);
  civil.second = static_cast<int>(rest / 1000 % 60);
  civil.millisecond = static_cast<int>(rest % 1000);
  return civil;
}

int DaysInMonth(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

std::optional<Timestamp> FromCivil(const Civil& c) {
  // Second 60 is a leap second: it becomes the first of the next minute.
  const bool valid = c.month >= 1 && c.month <= 12 && c.day >= 1 &&
                     c.day <= DaysInMonth(c.year, c.month) && c.hour <= 23 && c.minute <= 59 &&
                     c.second <= 60;
  if (!valid) return std::nullopt;
  const std::int64_t seconds = c.hour * 3600 + c.minute * 60 + c.second;
  return Timestamp{DaysFromCivil(c.year, c.month, c.day) * kMillisecondsPerDay + seconds * 1000 +
                   c.millisecond};
}

// Takes exactly `count` digits from the front of `text`.
std::optional<int> TakeDigits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  const std::optional<std::uint64_t> value = ParseDecimal(text.substr(0, count));
  if (!value) return std::nullopt;
  text.remove_prefix(count);
  return static_cast<int>(*value);
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Appends with zeros in front. Dates are written for every line of a list, where fmt would take
// most of the time.
void AppendDigits(std::string& out, int number, std::size_t width) {
  const std::size_t begin = out.size();
  out.append(width, '0');
  std::size_t at = out.size();
  int rest = number;
  for (; rest > 0 && at > begin; rest /= 10) out[--at] = static_cast<char>('0' + rest % 10);
  if (rest == 0) return;
  // A year before 0 or after 9999.
  out.resize(begin);
  fmt::format_to(std::back_inserter(out), "{:0{}}", number, width);
}

// To the second.
std::string DigitsOf(const Civil& c) {
  std::string digits;
  AppendDigits(digits, c.year, 4);
  for (const int part : {c.month, c.day, c.hour, c.minute, c.second}) AppendDigits(digits, part, 2);
  return digits;
}

// "", "Z", "GMT", "UTC", "+01:00", "-0800". The result is in milliseconds east of UTC.
std::optional<std::int64_t> ParseZone(std::string_view zone) {
  if (zone.empty() || EqualsIgnoreCase(zone, "z") || EqualsIgnoreCase(zone, "gmt") ||
      EqualsIgnoreCase(zone, "utc") || EqualsIgnoreCase(zone, "ut")) {
    return 0;
  }
  const int sign = zone.front() == '-' ? -1 : 1;
  if (zone.front() != '-' && zone.front() != '+') return std::nullopt;
  zone.remove_prefix(1);
  const std::optional<int> hours = TakeDigits(zone, 2);
  TakeChar(zone, ':');
  const std::optional<int> minutes = TakeDigits(zone, 2);
  if (!hours || !minutes || !zone.empty() || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3'600'000LL + *minutes * 60'000LL);
}

std::optional<Timestamp> InZone(const Civil& civil, std::string_view zone) {
  const std::optional<Timestamp> local = FromCivil(civil);
  const std::optional<std::int64_t> offset = ParseZone(zone);
  if (!local || !offset) return std::nullopt;
  return Timestamp{local->milliseconds - *offset};
}

// "20:06:24" or "20:06".
bool TakeClock(std::string_view& text, Civil& civil) {
  const std::optional<int> hour = TakeDigits(text, 2);
  if (!hour || !TakeChar(text, ':')) return false;
  const std::optional<int> minute = TakeDigits(text, 2);
  if (!minute) return false;
  civil.hour = *hour;
  civil.minute = *minute;
  if (!TakeChar(text, ':')) return true;
  const std::optional<int> second = TakeDigits(text, 2);
  if (!second) return false;
  civil.second = *second;
  return true;
}

bool TakeFraction(std::string_view& text, Civil& civil) {
  if (!TakeChar(text, '.') && !TakeChar(text, ',')) return true;
  int weight = 100;
  std::size_t digits = 0;
  for (; digits < text.size() && IsAsciiDigit(text[digits]); ++digits, weight /= 10) {
    civil.millisecond += (text[digits] - '0') * weight;
  }
  text.remove_prefix(digits);
  return digits > 0;
}

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Thu", "Fri", "Sat", "Sun",
                                                       "Mon", "Tue", "Wed"};

// 1 to 12, or 0.
int MonthByName(std::string_view name) {
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (StartsWithIgnoreCase(name, kMonths[i])) return static_cast<int>(i) + 1;
  }
  return 0;
}

// Two-digit years as RFC 2822 reads them.
std::optional<int> YearOf(std::string_view digits) {
  const std::optional<std::uint64_t> value = ParseDecimal(digits);
  if (!value || *value > 9999) return std::nullopt;
  const int year = static_cast<int>(*value);
  if (digits.size() == 2) return year < 50 ? 2000 + year : 1900 + year;
  return year;
}

}  // namespace

std::optional<Timestamp> ParseDigits(std::string_view digits) {
  if (digits.size() < 4 || digits.size() > 17) return std::nullopt;
  for (const char c : digits) {
    if (!IsAsciiDigit(c)) return std::nullopt;
  }
  // A digit missing in the middle of a field reads as the smallest that may stand there.
  std::string padded(digits);
  padded += std::string_view("00000101000000000").substr(digits.size());
  if (digits.size() == 5 && digits[4] == '1') padded[5] = '0';
  if (digits.size() == 7 && digits[6] != '0') padded[7] = '0';
  std::string_view rest = padded;
  Civil c;
  c.year = *TakeDigits(rest, 4);
  c.month = *TakeDigits(rest, 2);
  c.day = *TakeDigits(rest, 2);
  c.hour = *TakeDigits(rest, 2);
  c.minute = *TakeDigits(rest, 2);
  c.second = *TakeDigits(rest, 2);
  c.millisecond = *TakeDigits(rest, 3);
  return FromCivil(c);
}

std::string FormatDigits14(Timestamp time) { return DigitsOf(CivilOf(time)); }

std::string FormatDigits17(Timestamp time) {
  const Civil c = CivilOf(time);
  std::string digits = DigitsOf(c);
  AppendDigits(digits, c.millisecond, 3);
  return digits;
}

std::optional<Timestamp> ParseIso(std::string_view text) {
  Civil civil;
  const std::optional<int> year = TakeDigits(text, 4);
  if (!year) return std::nullopt;
  civil.year = *year;
  if (TakeChar(text, '-')) {
    const std::optional<int> month = TakeDigits(text, 2);
    if (!month) return std::nullopt;
    civil.month = *month;
    if (TakeChar(text, '-')) {
      const std::optional<int> day = TakeDigits(text, 2);
      if (!day) return std::nullopt;
      civil.day = *day;
    }
  }
  if (text.empty()) return FromCivil(civil);
  if (!TakeChar(text, 'T') && !TakeChar(text, 't') && !TakeChar(text, ' ')) return std::nullopt;
  if (!TakeClock(text, civil) || !TakeFraction(text, civil)) return std::nullopt;
  return InZone(civil, text);
}

std::string FormatIso(Timestamp time) {
  const Civil c = CivilOf(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", c.year, c.month, c.day, c.hour,
                     c.minute, c.second);
}

std::string FormatIsoMillis(Timestamp time) {
  const Civil c = CivilOf(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", c.year, c.month, c.day, c.hour,
                     c.minute, c.second, c.millisecond);
}

std::optional<Timestamp> ParseHttpDate(std::string_view text) {
  // Words, without the weekday: "26 Jan 2014 20:06:24 GMT", "26-Jan-14 ...", "Jan 26 20:06:24
  // 2014".
  std::array<std::string_view, 6> words;
  std::size_t count = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" ,\t-", at), text.size());
    // A '-' before four digits is a zone, not a separator.
    const bool zone = end == at && text[at] == '-' && count >= 4;
    const std::size_t stop = zone ? std::min(text.find(' ', at), text.size()) : end;
    if (stop > at) {
      if (count == words.size()) return std::nullopt;
      words[count++] = text.substr(at, stop - at);
    }
    at = zone ? stop : end + 1;
  }
  if (count > 0 && IsAsciiAlpha(words[0].front()) && MonthByName(words[0]) == 0) {
    std::copy(words.begin() + 1, words.end(), words.begin());
    --count;
  } else if (count > 1 && IsAsciiAlpha(words[0].front()) && IsAsciiAlpha(words[1].front())) {
    std::copy(words.begin() + 1, words.end(), words.begin());
    --count;
  }
  if (count < 4) return std::nullopt;
  const bool asctime = IsAsciiAlpha(words[0].front());
  const std::string_view day = asctime ? words[1] : words[0];
  const std::string_view month = asctime ? words[0] : words[1];
  const std::string_view year = asctime ? words[3] : words[2];
  std::string_view clock = asctime ? words[2] : words[3];
  const std::optional<int> year_value = YearOf(year);
  const std::optional<std::uint64_t> day_value = ParseDecimal(day);
  Civil civil;
  civil.month = MonthByName(month);
  if (!year_value || !day_value || *day_value > 31 || !TakeClock(clock, civil) || !clock.empty()) {
    return std::nullopt;
  }
  civil.year = *year_value;
  civil.day = static_cast<int>(*day_value);
  return InZone(civil, !asctime && count > 4 ? words[4] : "GMT");
}

std::string FormatHttpDate(Timestamp time) {
  const Civil c = CivilOf(time);
  const std::int64_t days = DaysFromCivil(c.year, c.month, c.day);
  std::string text;
  text.reserve(sizeof "Sun, 06 Nov 1994 08:49:37 GMT");
  text.append(kWeekdays[static_cast<std::size_t>((days % 7 + 7) % 7)]).append(", ");
  AppendDigits(text, c.day, 2);
  text.append(1, ' ').append(kMonths[static_cast<std::size_t>(c.month - 1)]).append(1, ' ');
  AppendDigits(text, c.year, 4);
  text += ' ';
  AppendDigits(text, c.hour, 2);
  text += ':';
  AppendDigits(text, c.minute, 2);
  text += ':';
  AppendDigits(text, c.second, 2);
  return text += " GMT";
}

}  // namespace stele
