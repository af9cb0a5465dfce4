import { type Html, html } from './html.ts';

/** Examples of the search syntax with their meaning; docs/search.md has the details. */
const EXAMPLES: readonly [typed: string, meaning: string][] = [
  ['install engine', 'either word, best with both'],
  ['"state of the art"', 'these words, next to each other'],
  ['engine -steam', 'without a word; also -"a phrase"'],
  ['+engine steam', 'with a word; also engine AND steam'],
  ['title:engine', 'in the title'],
  ['in:guide/setup', 'this page and what is below it'],
  ['path:setup', 'in the address'],
  ['author:ada', 'made by; also author:me'],
  ['tag:release', 'has this tag; also tag:"how to"'],
  ['updated:>2026-01-31', 'changed since; also created: and 2026-01..2026-03'],
  ['status:draft', 'drafts, or archived pages'],
];

export function searchHelp(): Html {
  return html`<p><strong>What can be typed</strong></p>
<dl class="search-help">${EXAMPLES.map(([typed, meaning]) => html`<dt><code>${typed}</code></dt><dd>${meaning}</dd>`)}</dl>`;
}
