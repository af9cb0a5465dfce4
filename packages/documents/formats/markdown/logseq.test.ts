import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFile } from '../../compile-file.ts';
import { titleOfBeginning } from '../../links/title-of-beginning.ts';

const ID = '64906131-f9a2-46c5-bb5f-eddf3043817b';
const OTHER = '64906131-f9a2-46c5-bb5f-eddf3043817c';

function compiled(markdown: string) {
  const file = { wiki_id: '', page_path: 'a', filename: 'a.md', content_type: '', bytes: Buffer.from(markdown) };
  return compileFile(file, new Map());
}

test('properties above the blocks of a Logseq text become properties of the page, not text', () => {
  const page = compiled(
    'title:: The "title"\nAlias:: Short, [[a b]]\ntags:: [[one, two]], #three\ntype:: [[feature]] of x\n\n- First\n\t- Second\n',
  );
  assert.equal(page.text, 'First\nSecond');
  assert.equal(page.title, 'The "title"');
  assert.deepEqual(page.tags, ['one, two', 'three']);
  assert.deepEqual(page.properties, [
    { name: 'alias', value: 'Short, a b' },
    { name: 'type', value: 'feature of x' },
  ]);
  assert.deepEqual(
    page.losses.map(({ kind, place, excerpt }) => [kind, place, excerpt]),
    [
      ['metadata', 'line 2', 'Alias:: Short, [[a b]]'],
      ['metadata', 'line 3', 'tags:: [[one, two]], #three'],
      ['metadata', 'line 4', 'type:: [[feature]] of x'],
    ],
  );
  assert.deepEqual([page.citations.first_lines, page.citations.last_lines], [[6], [7]]);
});

test('tags of Logseq may be written with a hash sign', () => {
  assert.deepEqual(compiled('tags:: #a #b\n\n- x\n').tags, ['a', 'b']);
});

test('built-in properties of a Logseq block are not text, and its other properties are', () => {
  const text = `- One\n  id:: ${ID}\n  collapsed:: true\n  price:: 3\n  more\n\t- Two\n\t  background-color:: red\n- id:: ${OTHER}\n  Three <!-- a -->\n`;
  const page = compiled(text);
  assert.equal(page.text.replace(/\s+/g, ' '), 'One price:: 3 more Two Three');
  assert.deepEqual(
    page.losses.map(({ kind, place, excerpt }) => [kind, place, excerpt]),
    [
      ['metadata', 'line 3', 'collapsed:: true'],
      ['metadata', 'line 7', 'background-color:: red'],
      ['markup_comment', 'line 9', '<!-- a -->'],
    ],
  );
  assert.match(page.html, new RegExp(`<li id="h-\\^${ID}">One`));
  assert.match(page.html, new RegExp(`<li id="h-\\^${OTHER}">`));
  assert.deepEqual(page.citations.first_lines, [1, 9]);
  const lost = page.losses.reduce((sum, { characters }) => sum + characters, 0);
  assert.equal(page.file_characters, page.source_text.replace(/\s/g, '').length + lost);
});

test('a reference to a block of the same text becomes a link with its words', () => {
  const page = compiled(
    `- ## A **bold** [[Page]] <b>\n  id:: ${ID}\n- see ((${ID})), {{embed ((${ID}))}} and [that](((${ID})))\n- \`((${ID}))\` ((${OTHER}))\n`,
  );
  const href = `href="#h-%5E${ID}"`;
  assert.match(page.html, /<h2[^>]*>A <strong>bold<\/strong>/);
  assert.ok(page.html.includes(`see <a ${href}>A bold Page &#x3C;b></a>`), page.html);
  assert.equal(page.html.split(href).length - 1, 3);
  assert.ok(page.html.includes(`<a ${href}>that</a>`));
  assert.ok(page.html.includes(`<code>((${ID}))</code> ((${OTHER}))`));
});

test('an id becomes an anchor, whatever its block begins with', () => {
  for (const [block, html] of [
    [
      `- id:: ${ID}\n  \`\`\`js\n  a:: b\n  collapsed:: true\n  \`\`\`\n`,
      /<a id=.*<code[^>]*>.*a.*collapsed<\/span>:: .*true/s,
    ],
    [`- > quoted\n  id:: ${ID}\n`, /<a id=[^>]*><\/a>\s*<blockquote>\s*<p>quoted/],
    [`- one\n  id:: ${ID}\n  two\n\n  three\n`, /<li id=[^>]*>\s*<p>one\s+two<\/p>\s*<p>three/],
    [`- id:: ${ID}\n`, /<a id=/],
  ] as const) {
    const page = compiled(block);
    assert.match(page.html, html);
    assert.ok(page.html.includes(`id="h-^${ID}"`), page.html);
    assert.deepEqual(page.losses, [], block);
  }
  const twice = compiled(`- a\n  id:: ${ID}\n- b\n  id:: ${ID}\n- ((${ID}))\n`);
  assert.match(twice.html, /\(\(6490/);
});

test('text that only looks like properties does not change', () => {
  for (const text of [
    'a:: b\n\n- item\n',
    'type:: a\n\nA paragraph\n',
    'std::vector<int> x\nfoo :: Int -> Int\n',
    '- a\n  name:: value\n',
    `\`\`\`\n- a\n  id:: ${ID}\n\`\`\`\n`,
    `    - a\n`,
    `text\nid:: ${ID}\n`,
    `- see ((${ID}))\n`,
  ]) {
    const { markdown, losses } = compiled(text);
    assert.equal(markdown, text);
    assert.deepEqual(losses, []);
  }
});

test('the title in the properties is known before the text is compiled', () => {
  const bytes = Buffer.from('title:: Named\n\n- First\n');
  assert.deepEqual(titleOfBeginning({ filename: 'a.md', content_type: '', bytes }), {
    title: 'Named',
    is_filename: false,
  });
});
