/** Characters that typesetting adds or changes: white space, and hyphens at the ends of lines. */
const IGNORED = /[\s\u00ad\u2010-\u2015-]/u;

/**
 * Returns the indices of the text pieces of a page that contain a passage. Compares text in Unicode's compatibility
 * form without white space and hyphens, because a PDF has ligatures and does not separate words. A passage that spans
 * several pages is found by its beginning or its end. Returns [] if the passage is not on the page.
 */
export function piecesOfQuote(pieces: readonly string[], quote: string): number[] {
  const letters: string[] = [];
  const pieceOf: number[] = [];
  for (const [i, piece] of pieces.entries()) {
    for (const letter of lettersOf(piece)) {
      letters.push(letter);
      pieceOf.push(i);
    }
  }
  const wanted = lettersOf(quote).join('');
  const text = letters.join('');
  const [from, to] = placeOf(text, wanted);
  return [...new Set(pieceOf.slice(from, to))];
}

/** Splits into UTF-16 units, so that indices of the list and of the joined text are equal. */
function lettersOf(text: string): string[] {
  return text
    .normalize('NFKC')
    .split('')
    .filter((unit) => !IGNORED.test(unit));
}

/** The shortest beginning or end of a passage that counts as a match, in letters. */
const LETTERS_MIN = 24;

function placeOf(text: string, wanted: string): [from: number, to: number] {
  if (wanted === '') return [0, 0];
  const at = text.indexOf(wanted);
  if (at >= 0) return [at, at + wanted.length];
  const start = wanted.slice(0, LETTERS_MIN);
  const begins = start.length === LETTERS_MIN ? text.lastIndexOf(start) : -1;
  if (begins >= 0) return [begins, begins + sameLength(text.slice(begins), wanted)];
  const end = wanted.slice(-LETTERS_MIN);
  const ends = end.length === LETTERS_MIN ? text.indexOf(end) : -1;
  if (ends < 0) return [0, 0];
  const to = ends + LETTERS_MIN;
  return [to - sameLength(reversed(text.slice(0, to)), reversed(wanted)), to];
}

function reversed(text: string): string {
  return text.split('').reverse().join('');
}

function sameLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length++;
  return length;
}
