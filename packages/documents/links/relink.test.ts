import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarkdown } from '@ibid/markdown/parse-markdown.ts';
import { renderMarkdown, renderTree } from '@ibid/markdown/render.ts';
import { relativeAddress } from '@ibid/markdown/wiki-links.ts';
import fc from 'fast-check';
import { extent } from '../../../test/extent.ts';
import { editText } from './edit-text.ts';
import { relink } from './relink.ts';

const PAGES: ReadonlyMap<string, string> = new Map([
  ['docs/intro.md', 'docs/intro'],
  ['docs/my file.md', 'docs/my-file'],
  ['docs/100%25.md', 'docs/100-25'],
  ['docs/a(b).md', 'docs/a-b'],
  ['docs/Größe.md', 'docs/grosse'],
  ['guide/setup.md', 'guide/setup'],
  ['guide/README.md', 'guide'],
  ['guide', 'guide'],
  ['top.md', 'top'],
]);
const INTRO = { filename: 'docs/intro.md', page_path: 'docs/intro' };

function relinked(markdown: string, file = INTRO) {
  const tree = parseMarkdown(markdown);
  const { edits, links } = relink(markdown, tree, file, PAGES);
  const relinked = { markdown: editText(markdown, tree, edits), links };
  assert.equal(
    renderTree(tree).html,
    renderMarkdown(relinked.markdown).html,
    'the changed tree must be what the changed text parses to',
  );
  return relinked;
}

test('a link to a file becomes a link to its page, as a browser resolves it', () => {
  const expected: [string, string][] = [
    ['[x](../guide/setup.md)', '[x](../guide/setup)'],
    ['[x](../guide/setup.md#frag)', '[x](../guide/setup#frag)'],
    ['[x](../guide/setup.md?plain=1#frag "Title")', '[x](../guide/setup#frag "Title")'],
    ['[x](./my%20file.md)', '[x](my-file)'],
    ['[x](<my file.md>)', '[x](<my-file>)'],
    ['[x](my&#32;file.md#a&amp;b)', '[x](my-file#a&amp;b)'],
    ['[x](a\\(b\\).md#c\\)d)', '[x](a-b#c%29d)'],
    ['[x](a(b).md)', '[x](a-b)'],
    ['[x](100%25.md)', '[x](100-25)'],
    ['[x](Gro%CC%88%C3%9Fe.md)', '[x](grosse)'],
    ['[x](../guide/)', '[x](../guide)'],
    ['[x](../guide)', '[x](../guide)'],
    ['[x](../guide/readme.md)', '[x](../guide)'],
    ['[x](/top.md)', '[x](../top)'],
    ['[x](..\\top.md)', '[x](../top)'],
    ['[x](../../../top.md)', '[x](../top)'],
    ['[x](INTRO.md#here)', '[x](intro#here)'],
    ['![x](../top.md)', '![x](../top)'],
    ["[x][r] [r]\n\n[r]: ../top.md#a  'T'", "[x][r] [r]\n\n[r]: ../top#a  'T'"],
    ['[r]\n\n[r]:\n  <../top.md>', '[r]\n\n[r]:\n  <../top>'],
    ['[![x](../top.md)](../guide/setup.md)', '[![x](../top)](../guide/setup)'],
    ['> - a\n>   [x\n>   y](../top.md)', '> - a\n>   [x\n>   y](../top)'],
    ['| [x](../top.md) |\n|---|\n| [y](my%20file.md) |', '| [x](../top) |\n|---|\n| [y](my-file) |'],
    ['<a class="x" href="../top.md#y">x</a>', '<a class="x" href="../top#y">x</a>'],
    ["> <div>\n> <a href='../top.md'>x</a>\n> </div>", "> <div>\n> <a href='../top'>x</a>\n> </div>"],
  ];
  for (const [before, after] of expected) assert.equal(relinked(before).markdown, after);
});

test('all other characters of the text stay unchanged', () => {
  const around =
    '\t* a  \n\n***\n\\[x](../top.md) `[x](../top.md)`\n\n    [x](../top.md)\n\n<!-- [x](../top.md) -->\n\n&copy; é 😀 ';
  const { markdown } = relinked(`${around}[x](../top.md)${around}`);
  assert.equal(markdown, `${around}[x](../top)${around}`);
});

test('a link to a file outside the upload stays unchanged', () => {
  const documents = [
    '[x](missing.md) [x](#here) [x]() [x](?q) [x](https://x.example/top.md) [x](//top.md) [x](mailto:top.md)',
    '[x](javascript:top.md) [x](%zz.md) [x](%00) [x](../..) [x](.) [x](/) <../top.md> ../top.md www.x.example/top.md',
    '<a href=../top.md>x</a> <a title="href=\'../top.md\'">x</a> <area href="../top.md">',
  ];
  for (const document of documents) {
    assert.deepEqual(relinked(document), { markdown: document, links: [] }, `${document} must stay`);
  }
});

test('the files that a text links to are returned, each once, in order', () => {
  const { links } = relinked(
    '[a](../top.md) [b](../guide/) [c](../top.md#x) <a href="my%20file.md">d</a> [e](nothing.md)',
  );
  assert.deepEqual(links, ['top.md', 'guide', 'docs/my file.md']);
});

test('a browser resolves the relative address between any two pages to the right page', () => {
  const paths = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 }).map((path) => path.join('/'));
  fc.assert(
    fc.property(paths, paths, (from, to) => {
      const base = 'https://wiki.example/v1/wikis/w/pages/path/';
      assert.equal(new URL(relativeAddress(from, to), base + from).href, base + to);
    }),
  );
});

test('hostile text is relinked without an error, and consistently with its tree', () => {
  const pieces = fc.constantFrom(
    ...'[ ] ( ) < > [x]( [r]: ![ ../ ./ .. % %zz %2e%2e %00 \\ # ? & &amp; " \' ` | - > * : // data:'.split(' '),
    ...['top.md', 'my%20file.md', 'guide/', 'setup.md', ' ', '\n', '\n\n', '\t', '<a href="', '">', 'é', '😀'],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 25 }), (parts) => {
      relinked(parts.join(''));
    }),
    { numRuns: extent(1_000, 200) },
  );
});

test('a sound or film in a text becomes an attachment whose address contains its name', () => {
  const pages = new Map([
    ['docs/intro.md', 'docs/intro'],
    ['docs/a (b).mp4', 'attachment:x'],
    ['docs/s.mp3', 'attachment:y'],
    ['docs/p.png', 'attachment:z'],
  ]);
  const expected: [string, string, string[]][] = [
    ['![m](a%20(b).mp4)', '![m](attachment:x#a%20%28b%29.mp4)', ['docs/a (b).mp4']],
    ['![[s.mp3]]', '![s.mp3](attachment:y#s.mp3)', ['docs/s.mp3']],
    ['![m][r]\n\n[r]: s.mp3', '![m][r]\n\n[r]: attachment:y#s.mp3', ['docs/s.mp3']],
    ['[m](s.mp3) [[s.mp3]]', '[m](attachment:y) [s.mp3](attachment:y)', ['docs/s.mp3']],
    ['![p](p.png)', '![p](attachment:z)', ['docs/p.png']],
    [
      '<video controls src="a (b).mp4"></video>',
      '<video controls src="attachment:x#a%20%28b%29.mp4"></video>',
      ['docs/a (b).mp4'],
    ],
    [
      '<audio>\n<source type="audio/mpeg" src=\'s.mp3\'>\n</audio>',
      '<audio>\n<source type="audio/mpeg" src=\'attachment:y#s.mp3\'>\n</audio>',
      ['docs/s.mp3'],
    ],
    ['<video src="intro.md"></video>', '<video src="intro.md"></video>', ['docs/intro.md']],
    ['<video src="https://x.example/s.mp3"></video>', '<video src="https://x.example/s.mp3"></video>', []],
  ];
  for (const [text, after, files] of expected) {
    const tree = parseMarkdown(text);
    const { edits, links } = relink(text, tree, INTRO, pages);
    const markdown = editText(text, tree, edits);
    assert.equal(markdown, after);
    assert.deepEqual(links, files, text);
    assert.equal(renderTree(tree).html, renderMarkdown(markdown).html, text);
  }
});
