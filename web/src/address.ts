// Addresses of archived pages, and the paths of our own pages that are about them.

// Whether a person who typed this means an address rather than words to search for.
export function looksLikeAddress(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed === "" || /\s/.test(trimmed)) return false;
  if (/^https?:\/\//i.test(trimmed)) return true;
  const host = trimmed.split(/[/?#]/, 1)[0] ?? "";
  return (
    /^([^\s.:@]+\.)+[^\s.:@\d]{2,}(:\d+)?$/.test(host) ||
    /^localhost(:\d+)?$/i.test(host) ||
    /^\d{1,3}(\.\d{1,3}){3}(:\d+)?$/.test(host)
  );
}

// As a browser would ask for it; null for what is no web address.
export function normalise(text: string): string | null {
  const trimmed = text.trim();
  const absolute = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  try {
    const url = new URL(absolute);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

// Without the scheme, for people.
export function shortAddress(url: string): string {
  return url.replace(/^https?:\/\//, "").replace(/\/$/, "");
}

// The begin of all addresses of the same site.
export const siteOf = (url: string): string =>
  `${/^https?:\/\/[^/?#]*/.exec(url)?.[0] ?? url}/`;
