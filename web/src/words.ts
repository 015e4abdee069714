// The language of the pages: the reader's choice, else the browser's, else English.
import { de } from "./texts/de";
import { en, type Texts } from "./texts/en";

const catalogues: Record<string, Texts> = { en, de };
const KEPT_AS = "stele.language";

function choose(): string {
  const wishes = [localStorage.getItem(KEPT_AS) ?? "", ...navigator.languages];
  const known = wishes
    .map((wish) => wish.slice(0, 2))
    .find((wish) => Object.hasOwn(catalogues, wish));
  return known ?? "en";
}

export const language = choose();
// How dates and numbers are written: as in the reader's own country, where it speaks the language.
export const locale = navigator.languages.find((wish) => wish.startsWith(language)) ?? language;
export const texts: Texts = catalogues[language] ?? en;

export function languages(): [string, string][] {
  return Object.entries(catalogues).map(([code, catalogue]) => [code, catalogue.language]);
}

export function keepLanguage(code: string): void {
  localStorage.setItem(KEPT_AS, code);
}

export function formatNumber(n: number): string {
  return new Intl.NumberFormat(locale).format(n);
}

export function formatShare(share: number): string {
  const precise = share > 0 && share < 0.01 ? 1 : 0;
  return new Intl.NumberFormat(locale, {
    style: "percent",
    maximumFractionDigits: precise,
  }).format(share);
}

export function formatBytes(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"];
  let power = 0;
  while (power < units.length - 1 && bytes >= 1000 ** (power + 1)) ++power;
  const amount = bytes / 1000 ** power;
  return new Intl.NumberFormat(locale, {
    style: "unit",
    unit: units[power] ?? "byte",
    unitDisplay: power === 0 ? "long" : "short",
    maximumFractionDigits: power > 0 && amount < 100 ? 1 : 0,
  }).format(amount);
}
