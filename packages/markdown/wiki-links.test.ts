import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent } from '../../test/extent.ts';
import { renderMarkdown, renderPage } from './render.ts';
import { possibleWikiTargets } from './wiki-link-syntax.ts';
import { pathOf } from './wiki-links.ts';

const KNOWN = new Map([
  ['Home', 'home'],
  ['Set up', 'guide/set-up'],
  ['Tools', 'guide/tools/all'],
]);

function render(markdown: string) {
  return renderPage({ wiki_id: '', markdown, page_path: 'guide/start', pagesByTarget: KNOWN });
}

test('a wiki link leads to the named page, and to the heading there', () => {
  const { html, wiki_links, text } = render(
    '[[Home]], [[ Set  up ]], [[Tools|the tools]], [[Set up#Über uns & co.]], [[#Here]]\n\n# Here',
  );
  for (const link of [
    '<a class="wiki" href="../home">Home</a>',
    '<a class="wiki" href="set-up">Set up</a>',
    '<a class="wiki" href="tools/all">the tools</a>',
    '<a class="wiki" href="set-up#h-%C3%BCber-uns--co">Set up#Über uns &#x26; co.</a>',
    '<a class="wiki" href="#h-here">#Here</a>',
  ]) {
    assert.ok(html.includes(link), `${link} must be in ${html}`);
  }
  assert.deepEqual(wiki_links, [
    { target: 'Home', path: 'home', line: 1 },
    { target: 'Set up', path: 'guide/set-up', line: 1 },
    { target: 'Tools', path: 'guide/tools/all', line: 1 },
  ]);
  assert.ok(text.startsWith('Home, Set up, the tools,'));
  const there = renderMarkdown('# Über uns & co.').outline[0]?.anchor;
  assert.equal(decodeURIComponent('h-%C3%BCber-uns--co'), there, 'the anchor is the one that the heading has');
});

test('a link to a missing page is marked, has no address, and is listed with the others', () => {
  const { html, wiki_links } = render('[[Nowhere]] and [[Nowhere#x|again]], [[constructor]]');
  assert.match(html, /<a class="wiki missing" data-target="Nowhere">Nowhere<\/a>/);
  assert.match(html, /<a class="wiki missing" data-target="Nowhere" data-fragment="#h-x">again<\/a>/);
  assert.deepEqual(wiki_links, [
    { target: 'Nowhere', path: '', line: 1 },
    { target: 'constructor', path: '', line: 1 },
  ]);
});

test('in a table the bar is escaped; in code, after a backslash and without a name there is no link', () => {
  assert.match(render('| a |\n|---|\n| [[Home\\|start]] |').html, /<td><a class="wiki" href="\.\.\/home">start<\/a>/);
  const none = render('`[[Home]]` \\[[Home]] [[]] [[#]] [[|x]] [[a\nb]] [[[Home]]]\n\n    [[Home]]\n');
  assert.deepEqual(none.wiki_links, []);
  assert.doesNotMatch(none.html, /<a/);
});

test('an embedded page is a link marked as embedded, and the size after the bar of an embedded picture is no text', () => {
  const { html, wiki_links } = render('![[Home]] ![[Home#Start|begin]] ![[plan.png|300x200]] \\![[Home]]\n');
  assert.match(
    html,
    /^<p><a class="wiki embed" href="\.\.\/home">Home<\/a> <a class="wiki embed" href="\.\.\/home#h-start">begin<\/a> /,
  );
  assert.match(html, /data-target="plan\.png">plan\.png<\/a> !<a class="wiki"/);
  assert.deepEqual(wiki_links, [
    { target: 'Home', path: 'home', line: 1 },
    { target: 'plan.png', path: '', line: 1 },
  ]);
  assert.match(render('![The plan|300x200](https://x.example/p.png)').html, /alt="The plan" width="300" height="200"/);
});

test('links of CommonMark win over wiki links', () => {
  const { html, wiki_links } = render('[[1]](https://x.example) [[2]][2] [[Home]]\n\n[2]: y\n[home]: z\n');
  assert.deepEqual(wiki_links, []);
  assert.match(html, />\[1\]<\/a> \[<a href="y">2<\/a>\]<a href="y">2<\/a> \[<a href="z">Home<\/a>\]/);
});

test('the targets of wiki links are listed before rendering, for any text', () => {
  assert.deepEqual(possibleWikiTargets('[[ A  b|c]] `[[d]]` [[A b#e]] [[#f]] [[[[g]]'), ['A b', 'd', 'g']);
  const pieces = fc.constantFrom(
    '[[',
    ']]',
    '[',
    ']',
    'a',
    'b',
    '|',
    '\\',
    '#',
    ' ',
    '\n',
    '$',
    '`',
    '*',
    '(',
    '!',
    '\t',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const markdown = parts.join('');
      const possible = possibleWikiTargets(markdown);
      for (const { target } of render(markdown).wiki_links) {
        assert.ok(possible.includes(target), `${JSON.stringify(target)} of ${JSON.stringify(markdown)}`);
      }
    }),
    { numRuns: extent(2_000, 300) },
  );
});

test('an address that cannot be a path is refused in time linear in its length', () => {
  const before = process.cpuUsage();
  for (const address of ['a'.repeat(1_000), '1'.repeat(1_000), `${'a1-'.repeat(300)}/b`, 'é'.repeat(1_000)])
    assert.equal(pathOf(`${address}.md`, ''), undefined);
  assert.ok(process.cpuUsage(before).user < 500_000);
});
