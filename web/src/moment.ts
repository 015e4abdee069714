// Moments as the archive writes them: 14 digits, UTC; any prefix of them means its beginning.

export const TIMESTAMP = /^\d{4,17}$/;

export function toDate(timestamp: string): Date {
  const padded = (timestamp + "00000101000000".slice(timestamp.length)).slice(0, 14);
  const part = (from: number, length: number) => Number(padded.slice(from, from + length));
  return new Date(
    Date.UTC(part(0, 4), part(4, 2) - 1, part(6, 2), part(8, 2), part(10, 2), part(12, 2)),
  );
}

export function toTimestamp(date: Date): string {
  return date.toISOString().replace(/\D/g, "").slice(0, 14);
}

export const yearOf = (timestamp: string): number => Number(timestamp.slice(0, 4));
export const monthOf = (timestamp: string): number => Number(timestamp.slice(4, 6)); // 1 to 12
export const dayOf = (timestamp: string): number => Number(timestamp.slice(6, 8));

export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

// 0 is Monday.
export function weekdayOf(year: number, month: number, day: number): number {
  return (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
}

export type Precision = "day" | "date" | "minute" | "exact" | "clock" | "second";

const PARTS: Record<Precision, Intl.DateTimeFormatOptions> = {
  day: { year: "numeric", month: "long", day: "numeric" },
  date: { year: "numeric", month: "short", day: "numeric" },
  minute: { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" },
  exact: {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  },
  clock: { hour: "2-digit", minute: "2-digit" },
  second: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
};

// For people. "clock" and "second" are the time of day alone.
export function formatMoment(timestamp: string, language: string, precision: Precision): string {
  const options = { ...PARTS[precision], timeZone: "UTC", hour12: false };
  return new Intl.DateTimeFormat(language, options).format(toDate(timestamp));
}

export function monthName(month: number, language: string, width: "long" | "short"): string {
  const options = { month: width, timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(language, options).format(new Date(Date.UTC(2001, month - 1, 1)));
}

export function weekdayName(weekday: number, language: string, width: "long" | "narrow"): string {
  const options = { weekday: width, timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(language, options).format(
    new Date(Date.UTC(2001, 0, 1 + weekday)),
  );
}

// "3 days": the largest unit that fits, for spreads of dates.
export function formatSpan(milliseconds: number, language: string): string {
  const units: [Intl.NumberFormatOptions["unit"] & string, number][] = [
    ["year", 365.25 * 86_400_000],
    ["month", 30.44 * 86_400_000],
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000],
  ];
  const [unit, length] = units.find(([, size]) => milliseconds >= size) ?? ["second", 1000];
  const amount = Math.round(milliseconds / length);
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(
    amount,
  );
}
