// Small charts in SVG. Each is decoration for a table or a text that says the same in words.
import { el, svg } from "./dom";
import { formatShare } from "./words";

const WIDTH = 720;
const HEIGHT = 200;
const HEAD = 18;
const FOOT = 18;
const SPARKS_MIN = 24; // bars are never wider than if there were so many
const SPARKS_MAX = 48; // more would be too thin to be seen

export interface Bar {
  label: string;
  value: number;
  title: string; // shown when a pointer rests on the bar
}

// "2014-01" and the like, with those between that are missing.
export function monthsBetween(first: string, last: string): string[] {
  const months: string[] = [];
  let [year = 0, month = 1] = first.split("-").map(Number);
  for (let text = first; text <= last && months.length < 2400;) {
    months.push(text);
    if (++month > 12) [year, month] = [year + 1, 1];
    text = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}`;
  }
  return months;
}

// Bars in equal steps, labelled where there is room; the largest value stands above them.
export function barChart(bars: Bar[], format: (value: number) => string): SVGSVGElement {
  const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  const step = WIDTH / Math.max(1, bars.length);
  const every = Math.max(1, Math.ceil(60 / step));
  bars.forEach((bar, at) => {
    const height = bar.value === 0 ? 0 : Math.max(1, ((HEIGHT - FOOT - HEAD) * bar.value) / most);
    const width = Math.min(48, Math.max(0.5, step * 0.85));
    chart.append(
      svg(
        "rect",
        {
          class: "bar",
          x: at * step + (step - width) / 2,
          y: HEIGHT - FOOT - height,
          width,
          height,
        },
        svg("title", {}, bar.title),
      ),
    );
    if (at % every === 0) {
      chart.append(
        svg("text", { x: at * step + step / 2, y: HEIGHT - 4, "text-anchor": "middle" }, bar.label),
      );
    }
  });
  const largest = bars.findIndex((bar) => bar.value === most);
  const anchor = largest > bars.length / 2 ? "end" : "start";
  const x = (largest + (anchor === "end" ? 1 : 0)) * step;
  if (largest >= 0) chart.append(svg("text", { x, y: 12, "text-anchor": anchor }, format(most)));
  chart.append(
    svg("line", { class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT - FOOT, y2: HEIGHT - FOOT }),
  );
  return chart;
}

// Neighbours added up, so that at most `most` are left.
export function gather(values: number[], most: number): number[] {
  const size = Math.max(1, Math.ceil(values.length / most));
  const sums: number[] = [];
  values.forEach((value, at) => {
    const place = Math.floor(at / size);
    sums[place] = (sums[place] ?? 0) + value;
  });
  return sums;
}

// A share of a whole as a bar with its number.
export function shareBar(share: number): HTMLElement {
  return el(
    "span",
    { class: "share-bar" },
    svg(
      "svg",
      { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "whole", width: 100, height: 10 }),
      svg("rect", { class: "bar", width: Math.max(0.5, 100 * share), height: 10 }),
    ),
    el("span", { class: "number" }, formatShare(share)),
  );
}

// A line of bars without words, as high as the largest.
export function sparkline(all: number[], className: string): SVGSVGElement {
  const values = gather(all, SPARKS_MAX);
  const step = 100 / Math.max(SPARKS_MIN, values.length);
  const most = Math.max(1, ...values);
  return svg(
    "svg",
    { class: className, viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" },
    values.map((value, at) => {
      const height = value === 0 ? 0 : Math.max(1.5, (20 * value) / most);
      return svg("rect", {
        fill: "currentColor",
        x: at * step,
        y: 20 - height,
        width: Math.max(0.4, step * 0.8),
        height,
      });
    }),
  );
}

// One bar that fills its share of the height.
export function column(share: number): SVGSVGElement {
  const height = share === 0 ? 0 : Math.max(1, 20 * share);
  return svg(
    "svg",
    { viewBox: "0 0 20 20", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { fill: "currentColor", x: 3, y: 20 - height, width: 14, height }),
  );
}
