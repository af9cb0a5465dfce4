import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFile } from '../../compile-file.ts';
import { needsReview } from '../losses.ts';

function compiled(markdown: string) {
  const file = { wiki_id: '', page_path: 'a', filename: 'a.md', content_type: '', bytes: Buffer.from(markdown) };
  return compileFile(file, new Map());
}

test('a Markdown file lists hidden content with its kind, line and excerpt', () => {
  const { losses, file_characters, source_text } = compiled(
    '---\ntitle: T\ntags:\n  - a\nslug: /x\n---\nimport A from "a";\n\n# Head\n\nText <!-- note --> %%a *comment*%% more.\n\n' +
      '<script>alert(1)</script>\n\n<iframe src="x"></iframe>\n\n![[Other page#Part]] ![[picture.png]]\n\n' +
      '- ```html\n  <!-- shown --> <script>\n  ```\n\n`<!-- shown -->`\n\n<Card title={x} />\n',
  );
  assert.deepEqual(
    losses.map(({ kind, place, excerpt }) => [kind, place, excerpt]),
    [
      ['metadata', 'line 3', 'tags: - a'],
      ['metadata', 'line 5', 'slug: /x'],
      ['script', 'line 7', 'import A from "a";'],
      ['markup_comment', 'line 11', '<!-- note -->'],
      ['markup_comment', 'line 11', '%%a *comment*%%'],
      ['script', 'line 13', '<script>alert(1)</script>'],
      ['embedded_object', 'line 15', '<iframe src="x"></iframe>'],
      ['embedded_object', 'line 17', 'Other page#Part'],
      ['script', 'line 25', '<Card title={x} />'],
    ],
  );
  const lost = losses.reduce((sum, { characters }) => sum + characters, 0);
  assert.equal(file_characters, source_text.replace(/\s/g, '').length + lost);
  assert.deepEqual([...new Set(losses.filter(needsReview).map(({ kind }) => kind))], ['embedded_object']);
});

test('shown content is not a loss: code with a comment in it, used front matter, embedded files', () => {
  const shown =
    '---\ntitle: T\n---\n\n# A\n\n*Text* `<!-- a -->` ![[a.pdf]]\n\n~~~\n%%a%%\nimport a from "b"\n<script>\n~~~\n';
  assert.deepEqual(compiled(shown).losses, []);
});

test('front matter after blank lines is recognized, and line numbers refer to the file', () => {
  const text = '\n \t\n---\ntitle: T\nslug: x\n---\n\nText <!-- a -->\n';
  const { markdown, title, losses, citations } = compiled(text);
  assert.equal(markdown, text.slice(4));
  assert.equal(title, 'T');
  assert.deepEqual(
    losses.map(({ kind, place }) => [kind, place]),
    [
      ['metadata', 'line 5'],
      ['markup_comment', 'line 8'],
    ],
  );
  assert.deepEqual([citations.first_lines, citations.last_lines], [[8], [8]]);
  for (const plain of ['\n---\n\nA heading: not a field\n---\n', '\n---\nA line\n---\n', '\n# A\n'])
    assert.equal(compiled(plain).markdown, plain);
});

test('content of code is not a loss, however the code is written', () => {
  const code = '%%a%%\n{/* b */}\n<Foo c={d} />\nimport e from "f";';
  for (const text of [
    code.replace(/^/gm, '    '),
    `- x\n\n${code.replace(/^/gm, '      ')}`,
    `> \`\`\`\n> f()\n>\`\`\`\n\n\`\`\`\n${code}\n\`\`\``,
    '$$\n%% a\nb %% c\n$$',
    `<pre>\n%%a%%\n</pre>`,
  ])
    assert.deepEqual(compiled(`${text}\n`).losses, [], text);
});
