import assert from 'node:assert/strict';
import { tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import type { Element, Root } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { bestPassage } from '../src/wiki/search/query/snippet.ts';

export const parser = unified().use(rehypeParse, { fragment: true }).freeze();

/** Allowed elements of a page. Separate from the sanitizer's own list, so that a change of either shows. */
const TAGS = new Set(
  (
    'a abbr audio b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 ' +
    'h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small source span strike strong sub summary sup ' +
    'table tbody td tfoot th thead time tr tt u ul var video wbr'
  ).split(' '),
);
const ATTRIBUTES = new Set(
  (
    'align alt ariaDescribedBy ariaLabel checked className colSpan controls dataFootnoteBackref dataFootnoteRef dataFootnotes dataTarget dataFragment ' +
    'dateTime dir disabled height href id lang loading open preload referrerPolicy rel rowSpan scope src start title type width'
  ).split(' '),
);
const CLASSES =
  /^(?:language-.+|hljs-[a-z_-]+|[a-z]+_{1,2}|math|math-inline|math-display|mermaid|wiki|missing|embed|task-list-item|contains-task-list|footnotes|sr-only|data-footnote-backref)$/;

function walk(node: Root | Element, each: (element: Element) => void): void {
  for (const child of node.children) {
    assert.ok(child.type === 'element' || child.type === 'text', `a ${child.type} must not be in a page`);
    if (child.type !== 'element') continue;
    each(child);
    walk(child, each);
  }
}

/** Asserts that a fragment of HTML has only allowed content. `source`: the text that it was rendered from. */
export function assertSafe(html: string, source: string): void {
  const context = `rendered from ${JSON.stringify(source.slice(0, 200))}: ${html.slice(0, 300)}`;
  const ids = new Set<string>();
  walk(parser.parse(html), ({ tagName, properties }) => {
    assert.ok(TAGS.has(tagName), `<${tagName}> must not be in a page, ${context}`);
    for (const name of Object.keys(properties)) {
      assert.ok(ATTRIBUTES.has(name), `the attribute ${name} of <${tagName}> must not be in a page, ${context}`);
    }
    for (const name of ['href', 'src'] as const) {
      if (properties[name] === undefined) continue;
      const url = URL.parse(String(properties[name]), 'https://wiki.example/folder/page');
      const schemes = name === 'src' ? ['https:', 'http:'] : ['https:', 'http:', 'mailto:'];
      assert.ok(url && schemes.includes(url.protocol), `the URL ${properties[name]} is not allowed, ${context}`);
      if (name === 'src' || url.host === 'wiki.example' || url.protocol === 'mailto:') continue;
      assert.deepEqual(properties.rel, ['nofollow', 'noopener', 'noreferrer'], `an external URL, ${context}`);
    }
    for (const name of (properties.className ?? []) as string[]) {
      assert.match(name, CLASSES, `the class ${name} must not be in a page, ${context}`);
    }
    if (properties.id !== undefined) {
      const id = String(properties.id);
      assert.match(id, /^h-./, `the id ${id} could clash with one of the application, ${context}`);
      assert.ok(!ids.has(id), `the id ${id} must be unique, ${context}`);
      ids.add(id);
    }
    if (tagName === 'audio' || tagName === 'video') {
      assert.equal(properties.controls, true, context);
      assert.match(String(properties.preload), /^(?:metadata|none)$/, context);
    }
    if (tagName === 'input') assert.deepEqual([properties.type, properties.disabled], ['checkbox', true], context);
  });
}

/** Returns the passage of a search for every word of a text. */
export function passageOfAllWords(text: string): string {
  return bestPassage(text, new Set([...tokenize(text)].map(({ term }) => term))).snippet;
}
