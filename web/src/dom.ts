// Elements are made here and nowhere else. Strings become text nodes, never markup, and links lead
// only to our own paths, so a title or an address from the archive cannot act on our pages.

export type Child = Node | string | number | null | undefined | false | Child[];
type Value = string | number | boolean | undefined | ((event: Event) => void);
export type Properties = Record<string, Value>;

const SVG = "http://www.w3.org/2000/svg";

// A path of ours: neither another scheme nor another host.
export function isOwnPath(path: string): boolean {
  return /^(#|\/(?![/\\]))/.test(path);
}

function setProperty(element: Element, name: string, value: Value): void {
  if (value === undefined || value === false) return;
  if (typeof value === "function") {
    element.addEventListener(name.slice(2), value); // "onclick" -> "click"
    return;
  }
  if (name.startsWith("on")) throw new Error(`${name} takes a function`);
  if (name === "href" && !isOwnPath(String(value)))
    throw new Error("a link that leaves the archive");
  element.setAttribute(name, value === true ? "" : String(value));
}

function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) {
      parent.appendChild(document.createTextNode(String(child)));
    }
  }
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) setProperty(element, name, value);
  append(element, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) setProperty(element, name, value);
  append(element, children);
  return element;
}

// Puts `children` in the place of what `parent` holds.
export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}
