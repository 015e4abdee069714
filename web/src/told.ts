// Sentences that a crawl wrote down, in another language. A catalogue has them with {} where
// something varies.
export function translate(text: string, told: Record<string, string>): string | null {
  for (const [sentence, said] of Object.entries(told)) {
    const [begin = "", end] = sentence.split("{}");
    if (end === undefined ? text !== sentence : !text.startsWith(begin) || !text.endsWith(end))
      continue;
    const varying = text.slice(begin.length, text.length - (end ?? "").length);
    return said.replace("{}", () => translate(varying, told) ?? varying);
  }
  return null;
}
