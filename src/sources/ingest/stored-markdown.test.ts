import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFile } from '@ibid/documents/compile-file.ts';
import fc from 'fast-check';
import { anyText } from '../../../test/any-text.ts';
import { extent, longTest } from '../../../test/extent.ts';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();

const TEXTS: Record<string, string> = {
  'line-ends.md': '# A\r\n\r\nb  \r\nc\\\r\n\r\n\r\n',
  'no-end.md': '* a\n+ b\n\n- c\n\n\n1) d\n1) e',
  'marks.md': 'Setext\n===\n\n__strong__ *em* _em_ **a**b ~one~ ~~two~~\n\n***\n\n- - -\n',
  'tables.md': '|a|b|\n|:-|-:|\n| c\\|d|`e\\|f`|\n|g|\n',
  'code.md': '~~~~js\n```\n~~~~\n\n\tindented\n\n`` ` ``\n',
  'html.md': '<div align=center>\n\n<script>alert(1)</script> &amp; &copy; &#x41;\n\n</div>\n<!-- x -->\n',
  'links.md':
    '[a]( <b c> "t" ) [d][E] [e] <https://x.example> https://y.example [[None]] [[No | where]]\n\n[e]:\n  /url\n',
  'math.md': '$a_b$ $$\nc\n$$\n\n$$\n\\alpha\n$$\n\n\\$5\n',
  'front.md': '---\ntitle:   "x"  \nlang: de\n---\n\n\n# Y #\n',
  'unicode.md': 'e\u0301 é \u00a0\u2028\u2029\u200d\u202e 👩‍👩‍👧 \u0001\u0002\u0003\u007f\n',
  'deep.md': `${'>'.repeat(1_000)} x\n`,
  'footnotes.md': 'a[^1]\n\n[^1]:\n    b\n\n    c\n',
};

/** The text that a file is read as: line endings become LF. The stored file keeps its bytes. */
function read(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

longTest('the Markdown of a page equals the text of its file, character for character', async () => {
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, TEXTS);
  for (const [name, text] of Object.entries(TEXTS)) {
    const path = `/v1/wikis/${owner.wiki_id}/pages/path/${name.replace('.md', '')}`;
    const { status, body } = await owner.get(path, { accept: 'text/markdown' });
    assert.equal(status, 200, name);
    assert.equal(body, read(text), name);
    assert.equal((await owner.get(path)).body.markdown, read(text), name);
  }
});

test('compiling changes no character of any text', () => {
  fc.assert(
    fc.property(anyText({ minLength: 1, maxLength: 200 }), (text) => {
      const given = `x${text.toWellFormed()}`.replaceAll('\0', '');
      const file = {
        wiki_id: '',
        filename: 'a.md',
        content_type: 'text/markdown',
        bytes: Buffer.from(given),
        page_path: 'a',
      };
      assert.equal(compileFile(file, new Map()).markdown, read(given));
    }),
    { numRuns: extent(500, 100) },
  );
});

test('wiki links in uploaded notes resolve to the notes with their names, and are recorded as page links', async () => {
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, {
    'start.md': '[[Daily note]] [[other/Deep]] [[deep#Part|there]] [[Absent]]\n',
    'notes/Daily Note.md': '# Day\n',
    'notes/other/deep.md': 'back to [[start]]\n',
  });
  const pages = `/v1/wikis/${owner.wiki_id}/pages`;
  const { body: start } = await owner.get(`${pages}/path/start`);
  assert.match(start.html, /<a class="wiki" href="notes\/daily-note">Daily note<\/a>/);
  assert.match(start.html, /<a class="wiki" href="notes\/other\/deep">other\/Deep<\/a>/);
  assert.match(start.html, /<a class="wiki" href="notes\/other\/deep#h-part">there<\/a>/);
  assert.match(start.html, /<a class="wiki missing" data-target="Absent">Absent<\/a>/);
  assert.equal(start.markdown, '[[Daily note]] [[other/Deep]] [[deep#Part|there]] [[Absent]]\n');
  const { body: deep } = await owner.get(`${pages}/path/notes/other/deep`);
  assert.match(deep.html, /<a class="wiki" href="..\/..\/start">start<\/a>/);
});
