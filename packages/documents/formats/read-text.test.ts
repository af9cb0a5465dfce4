import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import fc from 'fast-check';
import { extent } from '../../../test/extent.ts';
import { linesOfBlock } from '../source-lines.ts';
import { ExtractError } from './extract-error.ts';
import { type Extracted, titleFromFilename } from './extracted.ts';
import { isDocument } from './file-type.ts';
import { READABLE } from './formats.ts';
import { extract, extractAsPlainText } from './read-text.ts';

function read(content: string | Uint8Array, filename = '', content_type = ''): Extracted {
  return extract({ filename, content_type, bytes: typeof content === 'string' ? Buffer.from(content) : content });
}

function assertRefused(content: string | Uint8Array, filename: string, code: string, message: RegExp): void {
  assert.throws(
    () => read(content, filename),
    (error) => error instanceof ExtractError && error.code === code && message.test(error.message),
    `${filename} must be refused as ${code}`,
  );
}

function bytes(latin1: string): Uint8Array {
  return Buffer.from(latin1, 'latin1');
}

test('the type of a file is detected from its content; name and declared type only choose between kinds of text', () => {
  const kinds: [content: string, filename: string, content_type: string, kind: string][] = [
    ['x', 'a.md', 'application/pdf', 'markdown'],
    ['x', 'a.MARKDOWN', '', 'markdown'],
    ['x', 'a.txt', 'text/html', 'text'],
    ['x', 'a.log', '', 'text'],
    ['x', 'a', 'text/markdown; charset=utf-8', 'markdown'],
    ['<p>x', 'a', 'text/html', 'html'],
    ['<p>x', 'a.htm', 'text/plain', 'html'],
    ['<p>x', 'a', '', 'text'],
    ['<!-- c --> <!DOCTYPE html><p>x', 'a.txt', 'text/plain', 'html'],
    ['<html><p>x', 'a.md', '', 'html'],
    // A regular expression that backtracks over comments would take exponential time here.
    ['<!-- --> '.repeat(100), 'a.md', '', 'markdown'],
    ['\ufeff<!doctype html><p>x', 'a', '', 'html'],
    ['MZ is how some letters begin', 'a.txt', '', 'text'],
    ['RIFF', 'a.pdf', 'application/pdf', 'text'],
    ['<?xml version="1.0"?><x/>', 'a.xml', '', 'text'],
    ['a,b\n1,2', 'a.csv', 'text/plain', 'csv'],
    ['a\tb\n1\t2', 'a', 'text/tab-separated-values', 'csv'],
  ];
  for (const [content, filename, content_type, kind] of kinds) {
    const extracted = read(content, filename, content_type);
    assert.equal(extracted.kind, kind, `${content} in ${filename}, declared as ${content_type}`);
    assert.equal(
      extracted.content_type,
      { markdown: 'text/markdown', text: 'text/plain', html: 'text/html', csv: 'text/csv' }[kind],
    );
  }
});

test('UTF-16 whose first byte is zero has the kind of its file name', () => {
  const text = '# Grüße\n\nText';
  const file = { filename: 'a.md', content_type: '', bytes: Buffer.from(text, 'utf16le').swap16() };
  assert.equal(isDocument(file), false);
  assert.equal(extract(file).markdown, text);
});

test('a file of another program is refused with the name of its format and advice', () => {
  const ole = (stream: string) =>
    Buffer.concat([bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), Buffer.alloc(600), Buffer.from(stream, 'utf16le')]);
  const files: [Uint8Array, filename: string, message: RegExp][] = [
    [ole('WordDocument'), 'a.doc', /^the file is a Word document in the pre-2007 format .* save it as \.docx/],
    [ole('Workbook'), 'a.xls', /^the file is an Excel workbook .* save it as \.xlsx or CSV/],
    [ole('PowerPoint Document'), 'a.ppt', /PowerPoint .* save it as \.pptx or PDF/],
    [ole('EncryptedPackage'), 'a.docx', /password-protected .*save it without the password/],
    [ole('Contents'), 'a.md', /an Office document/],
    [bytes('7z\xbc\xaf\x27\x1c'), 'a.7z', /a 7z archive.* pack them as ZIP/],
    [bytes('Rar!\x1a'), 'a.rar', /a RAR archive/],
    [bytes('\x1f\x8b\x08'), 'a.tar.gz', /a compressed file or archive/],
    [Buffer.concat([Buffer.alloc(257), bytes('ustar\0')]), 'a.tar', /a tar archive/],
  ];
  for (const [file, filename, message] of files) assertRefused(file, filename, 'unsupported_type', message);
});

test('a file that cannot be read is refused with its type and advice', () => {
  const advice = `cannot become pages; upload one of these formats: ${READABLE.replace(/[()]/g, '.')}$`;
  const files: [latin1: string, filename: string, name: string][] = [
    ['\x89PNG\r\n\x1a\n\0', 'a.pdf', 'pictures'],
    ['\xff\xd8\xff\xe0', 'a.md', 'pictures'],
    ['GIF89a', 'a.txt', 'pictures'],
    ['\x7fELF\0', 'a.md', 'programs'],
    ['MZ\x90\0', 'a.md', 'programs'],
    ['\0\0\0\x20ftypheic', 'a.heic', 'pictures and videos'],
    ['<?xml version="1.0"?>\n<svg onload="alert(1)">', 'a.svg', 'SVG pictures'],
    ['<svg><script>alert(1)</script></svg>', 'a.html', 'SVG pictures'],
  ];
  for (const [latin1, filename, name] of files) {
    assertRefused(bytes(latin1), filename, 'unsupported_type', new RegExp(`^${name} ${advice}`));
  }
  assertRefused(bytes('abc\0def'), 'a.md', 'not_text', /not text .* upload one of these formats: Markdown, /);
  assertRefused(bytes('\x80\x81\0\xff'), 'a.bin', 'not_text', /not text/);
  assertRefused('', 'a.txt', 'empty_file', /empty/);
  assertRefused(' \r\n\t\n', 'a.txt', 'empty_file', /no text/);
  assertRefused('\ufeff', 'a.txt', 'empty_file', /no text/);
  assertRefused('<!doctype html><title>x</title><script>render()</script>', 'a.html', 'empty_file', /no text/);
  assert.equal(read('x'.repeat(1.5 * 2 ** 20), 'a.md').markdown.length, 1.5 * 2 ** 20);
});

test('a text longer than a document is truncated, and the loss says where the rest is', () => {
  const line = `${'é'.repeat(99)}\n`;
  const text = line.repeat(50_000);
  for (const filename of ['a.md', 'a.txt']) {
    const { markdown, losses = [], file_characters } = read(text, filename);
    assert.ok(Buffer.byteLength(markdown) <= 8 * 2 ** 20);
    const shown = markdown.match(/é+\n/g)?.length ?? 0;
    assert.ok(shown > 40_000, 'most of it is shown');
    const place = `lines ${(shown + 1).toLocaleString('en')} to 50,000`;
    assert.deepEqual(
      losses.map(({ kind, characters, place }) => ({ kind, characters, place })),
      [{ kind: 'cut_text', characters: 99 * (50_000 - shown), place }],
    );
    if (filename === 'a.txt') assert.equal(file_characters, 99 * 50_000);
  }
  const rest = { lines: 7, characters: 70 };
  const { losses } = extract({ filename: 'a.txt', content_type: '', bytes: Buffer.from('a\nb\n'), rest });
  assert.deepEqual(losses, [
    { kind: 'cut_text', first_page: 0, last_page: 0, place: 'lines 3 to 9', count: 1, characters: 70, excerpt: '' },
  ]);
});

test('a line too long for a page is split, and its pieces are cited by its number', () => {
  const words = `${'word '.repeat(20_000)}\n${'😀'.repeat(150_000)}\nlast`;
  const { markdown, lines = [] } = read(words, 'a.txt');
  const shown = markdown.split('\n').slice(1, -2);
  assert.equal(shown.join(''), words.replaceAll('\n', ''));
  assert.ok(shown.every((piece) => piece.length <= 50_000 && piece.isWellFormed()));
  const lineOf = (at: number) => linesOfBlock({ first_line: at, last_line: at }, lines).first_line;
  assert.deepEqual([2, 3, 4, 9, 10].map(lineOf), [1, 1, 2, 2, 3]);
});

test('text is UTF-8 or has a byte order mark, and an error names the first invalid byte', () => {
  assert.equal(read('\ufeff# é', 'a.md').markdown, '# é');
  assert.equal(read(Buffer.from('\ufeff# é', 'utf16le'), 'a.md').markdown, '# é');
  assert.equal(read(Buffer.from('\ufeff# é', 'utf16le').swap16(), 'a.md').markdown, '# é');
  assertRefused(
    bytes('# caf\xe9\n'),
    'a.md',
    'bad_encoding',
    /byte 0xE9 at offset 5\) and declares no other encoding; save it as UTF-8 and/,
  );
  assertRefused(bytes('\xef\xbf\xbd\xef\xbf\xbd x \xf0\x9f\x98'), 'a.md', 'bad_encoding', /byte 0xF0 at offset 9/);
  assertRefused(bytes('\xff\xfe\x00\xd8'), 'a.md', 'bad_encoding', /utf-16le/);
  assertRefused(Buffer.from('no\0mark', 'utf16le'), 'a.md', 'not_text', /NUL/);
  const wrong = fc.constantFrom(0x80, 0xc0, 0xf8, 0xff);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 50 }), wrong, (text, byte) => {
      const start = Buffer.from(`a${text.replaceAll('\0', '')}`);
      const place = `byte 0x${byte.toString(16).toUpperCase()} at offset ${start.length}\\)`;
      assertRefused(Buffer.concat([start, Buffer.from([byte])]), 'a.md', 'bad_encoding', new RegExp(place));
    }),
  );
});

test('HTML is decoded with its declared encoding', () => {
  const koi8 = bytes('<meta charset="koi8-r"><p>\xf0\xd2\xc9\xd7\xc5\xd4');
  assert.equal(read(koi8, 'a.html').markdown, 'Привет\n');
  const equiv = bytes('<META HTTP-EQUIV="Content-Type" content="text/html; charset=windows-1252"><p>\x93x\x94');
  assert.equal(read(equiv, 'a.html').markdown, '“x”\n');
  assert.equal(read(bytes('<p>caf\xe9'), 'a.html', 'text/html; charset=ISO-8859-1').markdown, 'café\n');
  assert.equal(read('<meta charset="utf-16"><p>é', 'a.html').markdown, 'é\n');
  assert.equal(read(Buffer.from('\ufeff<meta charset=unicode><p>é', 'utf16le'), 'a.html').markdown, 'é\n');
  // Valid UTF-8 is practically never text in a single-byte encoding, so the declaration is ignored.
  for (const name of ['ISO-8859-1', 'windows-1252', 'iso8859-15', 'us-ascii'])
    assert.equal(read(`<meta charset="${name}"><p>é ж`, 'a.html').markdown, 'é ж\n', name);
  assertRefused(bytes('<?xml version="1.0"?><html><p>caf\xe9'), 'a.html', 'bad_encoding', /0xE9 at offset/);
  assertRefused(bytes('<p>na\xc3\xafve caf\xc3\xa9, caf\xe9'), 'a.html', 'bad_encoding', /0xE9 at offset/);
  assertRefused('<meta charset=x-unknown><p>x', 'a.html', 'bad_encoding', /x-unknown.*UTF-8/);
});

test('HTML that names no encoding and is not UTF-8 is read as Windows-1252, and its source says so', () => {
  const { markdown, losses } = read(bytes('<p>\x93caf\xe9\x94 5 \x80'), 'a.html');
  assert.equal(markdown, '“café” 5 €\n');
  assert.deepEqual(
    losses?.map(({ kind, place }) => [kind, /Windows-1252/.test(place)]),
    [['decoding', true]],
  );
  assert.deepEqual(read('<p>café', 'a.html').losses, []);
  assertRefused(bytes('caf\xe9'), 'a.txt', 'bad_encoding', /0xE9/);
});

test('Markdown does not change except for line ends', () => {
  const markdown = '\t# a  \r\n\r\n* b\r&copy;\\\n---\ntitle: x\n---\n<b>c</b>   ';
  assert.equal(read(markdown, 'a.md').markdown, '\t# a  \n\n* b\n&copy;\\\n---\ntitle: x\n---\n<b>c</b>   ');
});

test('plain text reads the same as a page', () => {
  const { markdown } = read(
    '# no heading\n1. *no* [list](x) <b> &amp; ~~x~~ https://x.example/a_b_c?d=e.\n| a | b |\n|---|---|\n\n\nNext\n===\n\n' +
      'name     size\nfile.md  12\n\n  indented\n\n  begun\nlike this,\nin prose',
    'a.txt',
  );
  const { html } = renderMarkdown(markdown);
  assert.equal(
    html,
    '<p># no heading<br>\n1. *no* [list](x) &#x3C;b> &#x26;amp; ~~x~~ ' +
      '<a href="https://x.example/a_b_c?d=e" rel="nofollow noopener noreferrer">https://x.example/a_b_c?d=e</a>.<br>\n' +
      '| a | b |<br>\n|---|---|</p>\n<p>Next<br>\n===</p>\n' +
      '<pre><code>name     size\nfile.md  12\n\n  indented\n</code></pre>\n<p>begun<br>\nlike this,<br>\nin prose</p>',
  );
  const lines = fc.array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.string({ unit: fc.constantFrom(...'#*_`~[]()<>|\\-+=.:!&$1 \t'), maxLength: 12 }),
      fc.constantFrom(
        '',
        'word',
        'https://x.example/(a)',
        'www.x.example',
        'a@x.example',
        '[^1]: x',
        '```',
        '---',
        '===',
        '&lt;',
        '$$',
        '$',
        '[[x]]',
      ),
    ),
    { maxLength: 12 },
  );
  const bare = (text: string) => text.replace(/[\s\u0085]+/gu, ' ').trim();
  fc.assert(
    fc.property(lines, (given) => {
      const text = given.join('\n').replaceAll('\0', '').replace(/\r\n?/g, '\n');
      fc.pre(text.trim() !== '');
      assert.equal(bare(renderMarkdown(read(text, 'a.txt').markdown).text), bare(text));
    }),
    { numRuns: extent(500, 100) },
  );
});

test('the content of HTML becomes Markdown without its navigation', () => {
  const { markdown, title, language } = read(
    `<!doctype html><html lang="de-AT"><head><title> The
    title </title><style>p { color: red }</style></head><body>
    <header>Site</header><nav>Menu</nav>
    <main><h1>Head<a class="headerlink" href="#head">¶</a></h1>
    <p>One <b>two</b> <a href="b.html#c">three</a>.<br>Four<br><br>Five</p>
    <ul><li>a<li>b</ul><pre><code class="language-js">x &lt; y
  z</code></pre>
    <table><tr><th>h<th>i<tr><td>1<td>2</table>
    <table><tr><td>left<td><p>right</p></table>
    <img src="pics/x.png" alt="X"><img src="data:image/png;base64,AAAA" alt="bytes"><img src="//x.example/y.png">
    <a href="javascript:alert(1)">js</a><a href=" java
script:alert(1)">js2</a><iframe src="javascript:alert(1)"></iframe><form><input value="typed"></form>
    <svg><text>drawn</text></svg><div hidden>secret</div><p style="display: none">unseen</p><script>alert(1)</script>
    <!-- said aside --></main><footer>Imprint</footer></body></html>`,
    'a.html',
  );
  assert.deepEqual([title, language], ['The title', 'de-AT']);
  assert.equal(
    markdown,
    '# Head\n\nOne **two** [three](b.html#c).\\\nFour\n\nFive\n\n- a\n- b\n\n```js\nx < y\n  z\n```\n\n' +
      '| h | i |\n| - | - |\n| 1 | 2 |\n\nleft\n\nright\n\n![X](pics/x.png)bytes![](//x.example/y.png) jsjs2\n',
  );
});

test('the content is <main>, else <body>, and without a <title> the heading is the title', () => {
  assert.equal(read('<p>a</p><div role=main><p>b</div>', 'a.html').markdown, 'b\n');
  assert.equal(read('<article><p>a</article><aside>b</aside>', 'a.html').markdown, 'a\n\nb\n');
  assert.equal(read('<main>a</main><main>b</main>', 'a.html').markdown, 'a\n\nb\n');
  assert.equal(read('<p>a</p><article>b</article><article>c</article>', 'a.html').markdown, 'a\n\nb\n\nc\n');
  assert.equal(read('<p>a</p><main><nav>x</nav></main>', 'a.html').markdown, 'a\n');
  assert.equal(read('<h1>Only\n heading</h1>x', 'a.html').title, 'Only heading');
  assert.equal(
    read('<base href="https://x.example/y/"><a href="z">x</a>', 'a.html').markdown,
    '[x](https://x.example/y/z)\n',
  );
  assert.equal(read('<base href="https://x.example"><a href="http://[">x</a>', 'a.html').markdown, '[x](http://\\[)\n');
});

test('a file shown as plain text keeps its characters, and its Markdown shows them all', () => {
  const file = { filename: 'a.html', content_type: '', bytes: Buffer.from('<p>```\n<b>x') };
  const { text, markdown } = extractAsPlainText(file);
  assert.deepEqual([text, markdown], ['<p>```\n<b>x', '````\n<p>```\n<b>x\n````\n']);
  assert.equal(extractAsPlainText({ ...file, filename: 'a.md', bytes: Buffer.from('# x') }).markdown, '# x');
});

test('a file without a title is named after its file name', () => {
  const titles = {
    'guides/first-steps.md': 'first steps',
    'a__b.tar.gz': 'a b.tar',
    '.env': '.env',
    '---.md': '---.md',
    'v1.2 notes': 'v1.2 notes',
  };
  for (const [filename, title] of Object.entries(titles)) assert.equal(titleFromFilename(filename), title);
});
