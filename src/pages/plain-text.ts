/** What a page shows and what search and tree need of it. Offsets and lengths are in UTF-16 units. */
export interface Rendered {
  /** A safe fragment: nothing that the text holds can run in a reader's browser. */
  html: string;
  /** Without markup, blocks on lines of their own. */
  text: string;
  outline: OutlineEntry[];
  word_count: number;
  /** Of the front matter, else of the first heading, else "". */
  title: string;
  /** Of the front matter, else the first paragraph, at most 300 characters. */
  description: string;
  /** Of the front matter's `lang`, else "". */
  language: string;
}

export interface OutlineEntry {
  level: number;
  text: string;
  /** The heading's id in `html`. */
  anchor: string;
  /** Where the heading starts in `text`. */
  offset: number;
}

/** Shows a text as it is: for what cannot be rendered within its limits of time, depth or memory. */
export function renderPlainText(text: string): Rendered {
  return {
    html: `<pre>${escapeHtml(text)}</pre>`,
    text,
    outline: [],
    word_count: countWords(text),
    title: '',
    description: '',
    language: '',
  };
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Runs of letters and digits; scripts that write without spaces count by the character. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}\p{M}])+/gu;

export function countWords(text: string): number {
  let words = 0;
  for (const _ of text.matchAll(WORD)) words += 1;
  return words;
}
