// Small charts in SVG. Each is decoration for a table or a text that says the same in words.
import { svg } from "./dom";

const WIDTH = 720;
const HEIGHT = 200;
const HEAD = 18;
const FOOT = 18;
const SPARKS = 24; // bars are never wider than if there were so many

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

// A line of bars without words, as high as the largest.
export function sparkline(values: number[], className: string): SVGSVGElement {
  const step = 100 / Math.max(SPARKS, values.length);
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
