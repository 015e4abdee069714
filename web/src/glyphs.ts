// How captures differ, as small shapes: each state has a shape of its own, colour only adds to it.
import type { State } from "./api";
import { el, svg, type Child } from "./dom";
import { texts } from "./words";

export const STATES: State[] = ["first", "identical", "same-text", "text", "redirect", "error"];

function shape(state: State): SVGElement {
  const outline = { fill: "none", stroke: "currentColor", "stroke-width": 2 };
  const solid = { fill: "currentColor" };
  switch (state) {
    case "first": // a star
      return svg("path", {
        ...solid,
        d: "M8 0l2.2 5.3 5.8.4-4.4 3.7 1.4 5.6L8 12l-5 3 1.4-5.6L0 5.7l5.8-.4z",
      });
    case "identical": // an empty circle
      return svg("circle", { ...outline, cx: 8, cy: 8, r: 5.5 });
    case "same-text": // a circle half full
      return svg(
        "g",
        {},
        svg("circle", { ...outline, cx: 8, cy: 8, r: 6 }),
        svg("path", { ...solid, d: "M8 2a6 6 0 0 1 0 12z" }),
      );
    case "text": // a full diamond
      return svg("path", { ...solid, d: "M8 0l8 8-8 8-8-8z" });
    case "redirect": // an arrow
      return svg("path", { ...outline, d: "M1 8h12M8 3l5.5 5L8 13" });
    case "error": // a cross
      return svg("path", { ...outline, "stroke-width": 3, d: "M2 2l12 12M14 2L2 14" });
  }
}

// Decoration only: say the state in words beside it, or in a label around it.
export function glyph(state: State): SVGElement {
  return svg(
    "svg",
    { class: `glyph state-${state}`, viewBox: "0 0 16 16", "aria-hidden": "true" },
    shape(state),
  );
}

export function namedGlyph(state: State): Child {
  return [glyph(state), " ", texts.states[state]];
}

export function legend(): HTMLElement {
  return el(
    "ul",
    { class: "legend", "aria-label": texts.legend },
    STATES.map((state) => el("li", {}, namedGlyph(state))),
  );
}

// The one that says most, where several captures share a mark.
export function strongest(states: State[]): State {
  const order: State[] = ["first", "text", "same-text", "error", "redirect", "identical"];
  return order.find((state) => states.includes(state)) ?? "identical";
}
