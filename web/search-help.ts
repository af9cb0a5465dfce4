import { type Html, html } from './html.ts';

/** Examples of the search syntax with their meaning; docs/search.md has the details. */
const EXAMPLES: readonly [typed: string, meaning: string][] = [
  ['install engine', 'either word; pages with both come first'],
  ['"state of the art"', 'these words next to each other'],
  ['engine -steam', 'excludes a word; also -"a phrase"'],
  ['+engine steam', 'requires a word; also engine AND steam'],
  ['title:engine', 'word in the title'],
  ['in:guide/setup', 'this page and the pages below it'],
  ['path:setup', 'word in the address'],
  ['author:ada', 'author; also author:me'],
  ['tag:release', 'tag; also tag:"how to"'],
  ['updated:>2026-01-31', 'changed after this day; also created: and 2026-01..2026-03'],
  ['status:draft', 'drafts; also status:archived'],
];

export function searchHelp(): Html {
  return html`<p><strong>Search syntax</strong></p>
<dl class="search-help">${EXAMPLES.map(([typed, meaning]) => html`<dt><code>${typed}</code></dt><dd>${meaning}</dd>`)}</dl>`;
}
