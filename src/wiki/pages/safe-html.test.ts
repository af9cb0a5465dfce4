import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPlainText } from '@ibid/markdown/plain-text.ts';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { sanitizeTree, writeHtml } from '@ibid/markdown/safe-html.ts';
import fc from 'fast-check';
import { ATTACKS, PLACED_ATTACKS } from '../../../test/attacks.ts';
import { everyNth, extent, longTest } from '../../../test/extent.ts';
import { assertSafe, parser, passageOfAllWords } from '../../../test/safe-pages.ts';
import { pageDocument } from './read-page.ts';
import { exampleFullPage } from './schema.ts';

/** A wiki in which every target is a page, so that attacks get into addresses. */
const WIKI = { wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9', page_path: 'a/b', findPage: () => ({ path: 'a/c' }) };

test('nothing in a text can run, load or post anything in a page', () => {
  for (const document of ATTACKS) assertSafe(renderMarkdown(document).html, document);
});

/**
 * Runs one case in seven, except in full runs. No list of positions has a length divisible by seven, so every position
 * is covered.
 */
const isTurn = everyNth(7);

test('an attack is harmless in any position of a text and in all fields of the page', () => {
  for (const document of PLACED_ATTACKS.filter(isTurn)) {
    const { html, title, description, text, outline } = renderMarkdown(document, WIKI);
    assertSafe(html, document);
    const isPlain = html === renderPlainText(document).html;
    if (!isPlain) {
      assert.equal(writeHtml(sanitizeTree(parser.parse(html))), html, `rendered from ${JSON.stringify(document)}`);
    }
    // These fields are plain text and must not contain markup.
    for (const words of [title, description, text, ...outline.map((heading) => heading.text)]) {
      const snippet = passageOfAllWords(words);
      assert.ok(
        parser
          .parse(snippet)
          .children.every(
            (child) =>
              child.type === 'text' ||
              (child.type === 'element' &&
                child.tagName === 'mark' &&
                Object.keys(child.properties).length === 0 &&
                child.children.every((inside) => inside.type === 'text')),
          ),
        snippet,
      );
    }
    const head =
      /<head>([\s\S]*)<\/head>\n<body>/.exec(pageDocument({ ...exampleFullPage, title, html: '' }))?.[1] ?? '';
    assert.deepEqual(
      parser.parse(head).children.flatMap((child) => (child.type === 'element' ? child.tagName : [])),
      ['meta', 'title', 'base'],
      `the head for ${JSON.stringify(title)}`,
    );
  }
});

test('safe HTML is unchanged when it is parsed and sanitized again', () => {
  for (const document of ATTACKS) {
    const { html } = renderMarkdown(document);
    const again = writeHtml(sanitizeTree(parser.parse(html)));
    assert.equal(again, html, `rendered from ${JSON.stringify(document.slice(0, 200))}`);
  }
});

test('no mixture of markup gives unsafe output, or output that a browser would parse differently', () => {
  const pieces = fc.constantFrom(
    ...'<svg> </svg> <math> <style> </style> <script> </script> <title> <xmp> <table> <tr> <td> </table> <select>'.split(
      ' ',
    ),
    ...'<p> </p> <div> </div> <a </a> <img <!-- --> > " \' ` ``` [x]( ) ![ ] [x]: [^1] [^1]: # - | --- * _ & \\'.split(
      ' ',
    ),
    ...['\n', '\n\n', '    ', ' onerror=alert(1) ', ' id=x ', ' name=cookie ', ' style=x ', '<template>', '<noscript>'],
    ...[' href=javascript:alert(1) ', ' src=data:text/html,x ', 'javascript:', 'https://x.example', '&#106;', '&Tab;'],
    'text',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      const document = parts.join('');
      const { html } = renderMarkdown(document);
      assertSafe(html, document);
      assert.equal(writeHtml(sanitizeTree(parser.parse(html))), html);
    }),
    { numRuns: extent(1_000, 200) },
  );
});

test('ids of headings and footnotes never collide with properties of a document', () => {
  const { html, outline } = renderMarkdown('# cookie\n\nx[^toString]\n\n# `__proto__`\n\n[^toString]: y');
  assert.deepEqual(
    outline.map(({ anchor }) => anchor),
    ['h-cookie', 'h-__proto__'],
  );
  for (const { anchor } of outline) assert.ok(html.includes(`id="${anchor}"`), `${anchor} must be an id in ${html}`);
  assert.match(html, /<a href="#h-fn-tostring"[^>]* id="h-fnref-tostring"/);
  assert.match(html, /<li id="h-fn-tostring">/);
});

test('a fragment refers to the heading of that name, in the same page and in another page', () => {
  const { html } = renderMarkdown('# Über uns\n\n[a](#über-uns) [b](#%C3%BCber-uns) [c](other/page#Set%20Up) [d](#)');
  const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map((match) => decodeURIComponent(match[1] ?? ''));
  assert.deepEqual(hrefs, ['#h-über-uns', '#h-über-uns', 'other/page#h-set-up', '#']);
});

test('external links get rel="nofollow noopener noreferrer", links within the wiki do not', () => {
  const { html } = renderMarkdown('[a](https://x.example) [b](HTTP://x.example) [c](../page) [d](mailto:a@x.example)');
  assert.match(html, /<a href="https:\/\/x\.example" rel="nofollow noopener noreferrer">a</);
  assert.match(html, /<a href="http:\/\/x\.example" rel="nofollow noopener noreferrer">b</);
  assert.match(html, /<a href="\.\.\/page">c</);
  assert.match(html, /<a href="mailto:a@x\.example">d</);
});

test('harmless HTML in a text is kept, and tags that would swallow text have no effect', () => {
  const { html } = renderMarkdown(
    '<details><summary>More</summary>\n\nH<sub>2</sub>O <kbd>Ctrl</kbd>\n\n</details>\n\n<div align=center><img src="x.png" width=40></div>',
  );
  assert.match(html, /<details><summary>More<\/summary>\n<p>H<sub>2<\/sub>O <kbd>Ctrl<\/kbd><\/p>\n<\/details>/);
  assert.match(html, /<div align="center"><img src="x\.png" width="40"/);
  for (const tag of [
    'title',
    'xmp',
    'plaintext',
    'textarea',
    'noscript',
    'template',
    'select',
    'svg',
    'style',
    'script',
  ]) {
    const { text } = renderMarkdown(`the <${tag}> tag\n\n# After\n\nit`);
    assert.match(text, /After\s+it$/, `text after <${tag}> must be shown`);
  }
  const { text } = renderMarkdown('before\n\n<style>p { color: red }</style>\n\n<script>alert(1)</script>\n\nafter');
  assert.equal(text, 'before\nafter');
});

longTest('a page is the same whether its HTML is parsed in parts or as a whole', () => {
  const pieces =
    '<p> </p> <div> </div> <a_id="x"> <a_name="y"></a> </a> <b> </b> <i> <br> <ul> <li> </ul> <details> <summary> </summary> </details> <!--c--> <img_src="a.png"> <svg> </svg> <form> </form> <h1> </h1> <x-part> <select> <button> <object_id="install"> </object> <hr> <sup>2</sup> <nobr> [l](b.md) #_install *em* `code` |a|b| |-|-| [^1] [^1]:_n'
      .split(' ')
      .map((piece) => piece.replace('_', ' '));
  const spaces = [' ', '\n', '\n\n', '\n\n', '\n\n# ', '\n\n- ', '\n> '];
  const text = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...spaces)), { maxLength: 24 })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(text, (markdown) => {
      // A table cell outside of a table produces no element, but makes the whole page be parsed at once.
      const whole = renderMarkdown(`Text<td></td>\n\n${markdown}`).html;
      assert.equal(renderMarkdown(`Text\n\n${markdown}`).html, whole);
    }),
    { numRuns: extent(400, 80) },
  );
});
