// Marks the words that differ between two lines. The idea: cut both into words and spaces, find the
// longest common subsequence, and what is in only one of them is marked. Lines with more words than
// kept in the table are marked as a whole, so that time stays bounded whatever the page holds.

export interface Piece {
  text: string;
  changed: boolean;
}

const MOST_CELLS = 250_000;

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];
}

function push(pieces: Piece[], text: string, changed: boolean): void {
  const last = pieces[pieces.length - 1];
  if (last && last.changed === changed) last.text += text;
  else pieces.push({ text, changed });
}

export function diffWords(before: string, after: string): [Piece[], Piece[]] {
  const a = wordsOf(before);
  const b = wordsOf(after);
  if ((a.length + 1) * (b.length + 1) > MOST_CELLS) {
    return [[{ text: before, changed: true }], [{ text: after, changed: true }]];
  }
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width); // of the tails that begin at (i, j)
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      common[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const left: Piece[] = [];
  const right: Piece[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const word = a[i];
    const other = b[j];
    if (word !== undefined && word === other) {
      push(left, word, false);
      push(right, word, false);
      ++i;
      ++j;
    } else if (word !== undefined && (other === undefined || at(i + 1, j) >= at(i, j + 1))) {
      push(left, word, true);
      ++i;
    } else if (other !== undefined) {
      push(right, other, true);
      ++j;
    }
  }
  return [left, right];
}
