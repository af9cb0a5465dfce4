import { raw, type Sql } from '../db/sql.ts';

/** Characters that no stored text needs, so that marks survive the escaping of everything else. */
const START = '\u0002';
const STOP = '\u0003';

/** A text that is longer is searched in its beginning for a passage to show. */
const TEXT_MAX = 100_000;

/** The passage of `t.text` that answers `a.words`, between control characters. */
export const headlineColumn: Sql = raw(
  `ts_headline('english', left(t.text, ${TEXT_MAX}), a.words, 'StartSel=' || chr(2) || ', StopSel=' || chr(3) || ', MaxWords=40, MinWords=20')`,
);

/** The text before the passage, whose length is the passage's place. */
export const beforeColumn: Sql = raw(
  `left(t.text, greatest(strpos(t.text, translate(h.headline, chr(2) || chr(3), '')) - 1, 0))`,
);

/** The passage as safe HTML: everything escaped, what matched in `<mark>`. */
export function snippetHtml(headline: string): string {
  return headline
    .replace(/\s+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll(START, '<mark>')
    .replaceAll(STOP, '</mark>');
}

/** The last heading that starts at or before the end of the passage's beginning. */
export function headingAt(outline: { text: string; anchor: string; offset: number }[], offset: number) {
  let heading = { text: '', anchor: '' };
  for (const entry of outline) if (entry.offset <= offset) heading = entry;
  return { heading: heading.text, anchor: heading.anchor };
}
