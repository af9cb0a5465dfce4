import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { extent, longTest } from '../../test/extent.ts';
import { placesOf } from './cite-blocks.ts';
import { type CompiledFile, compileFile } from './compile-file.ts';

/** LINES_RUNS: the number of random files; without it the seed is fixed. */
const { LINES_RUNS } = process.env;
const RUNS = LINES_RUNS ? { numRuns: Number(LINES_RUNS) } : { numRuns: extent(300, 60), seed: 1 };
const SHARED = fileURLToPath(new URL('../shared/corpora/', PACKAGE));

function compiled(filename: string, bytes: Uint8Array): CompiledFile {
  return compileFile({ wiki_id: '', filename, content_type: '', bytes, page_path: 'p' }, new Map());
}

/** Splits a file into lines as an editor counts them. */
function linesOf(bytes: Uint8Array): string[] {
  const encoding = bytes[0] === 0xff ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes).split(/\r\n|\r|\n/);
}

/** Removes character references, which a page shows as other characters, and all signs. */
function letters(text: string): string {
  return text.replace(/&#?\w+;/g, '').replace(/[^\p{L}\p{N}]/gu, '');
}

/** Asserts that each block's first and last words are on its first and last lines. Returns the number of blocks. */
function assertOnLines(filename: string, bytes: Uint8Array): number {
  const lines = linesOf(bytes);
  const { citations, source_text } = compiled(filename, bytes);
  let count = 0;
  for (const { start, end, lines: named } of placesOf(citations)) {
    const quote = source_text.slice(start, end);
    const { first_line, last_line } = named ?? assert.fail(`${filename} has lines`);
    const words = quote.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    const where = `${filename}, lines ${first_line} to ${last_line}: ${quote.slice(0, 200)}`;
    assert.ok(1 <= first_line && first_line <= last_line && last_line <= lines.length, where);
    const there = lines.slice(first_line - 1, last_line);
    assert.ok(there[0]?.trim() && there.at(-1)?.trim(), where);
    const spelled = letters(there.join(''));
    // Highlighting may join line ends of code, so nothing more can be asserted.
    count += 1;
    if (spelled === letters(quote)) continue;
    for (const word of words) assert.ok(spelled.includes(word), `${word} in ${where}`);
    // A line may contain only markers.
    const written = there.map(letters).filter(Boolean);
    assert.ok((written[0] ?? '').includes(words[0] ?? ''), where);
    assert.ok((written.at(-1) ?? '').includes(words.at(-1) ?? ''), where);
  }
  return count;
}

longTest('every block of the corpora is on its lines', (t) => {
  const cwd = existsSync(SHARED) ? SHARED : fileURLToPath(PACKAGE);
  const files = globSync(['documents/*.md', 'tldr/**/*.md', '*.md', 'docs/**/*.md'], { cwd });
  let blocks = 0;
  for (const name of files) {
    const bytes = readFileSync(`${cwd}/${name}`);
    if (!name.endsWith('not-utf8.md')) blocks += assertOnLines(name, bytes);
  }
  assert.ok(blocks > 100);
  t.diagnostic(`${files.length} files, ${blocks} blocks`);
});

/** Pieces of files: each @ becomes a unique word. */
const fragments = {
  md: [
    '# @ @',
    '@ *@*\n@',
    '@\n===',
    '- @\n- @ @\n\n  @\n  - @\n    @\n- [ ] @',
    '1. @\n@\n2. ```\n   @\n   @\n   ```',
    '| @ | @ |\n| - | - |\n| @ | [@](x) |\n| @ |',
    '> @\n> @\n>\n> @',
    '```\n@\n\n@\n```',
    '~~~js\nconst @ = 1; // @\n@\n~~~',
    '    @\n\n    @',
    '$$\n@\n@\n$$',
    '@ $@$ `@\n@` [[@]] <https://@.example.com> @@example.com\n![@](x)',
    '@[^label]\n\n[^label]: @\n    @\n\n    @',
    '<div>\n<p>@\n@</p>\n\n@\n\n</div>',
    '<details><summary>@</summary>\n\n- @\n\n</details>',
    '<div>\n<script>\nx\n</script>\n@\n</div>',
    '@ <b>@\n@</b> @  \n@',
    '<!-- \n\n -->',
    '---',
    '[x]: x',
    '\n\n',
  ],
  txt: ['@ @', '@\n@\n@', '    @\n    @', '@\t@\n@   @', '@ # @', '* @\n* @', '@\n\u00a0\n@', '\n\n', '\t'],
  csv: ['@,@', '@', '"@\n@",@', '"@\n@\n@"', ',', '"@ ""@"""'],
};
const files = fc.constantFrom('md' as const, 'txt' as const, 'csv' as const).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    front: fc.constantFrom('', kind === 'md' ? '---\ntitle: x\nlang: en\n---\n' : '', '\n\n'),
    parts: fc.array(fc.constantFrom(...fragments[kind]), { minLength: 1, maxLength: 8 }),
    gap: fc.constantFrom(kind === 'csv' ? '\n' : '\n\n', '\n\n\n'),
    newline: fc.constantFrom('\n', '\r\n', '\r'),
    encoding: fc.constantFrom('utf-8', 'utf-8 with a mark', 'utf-16'),
  }),
);

test('every block of any file has the lines of its first and its last word', () => {
  fc.assert(
    fc.property(files, ({ kind, front, parts, gap, newline, encoding }) => {
      let count = 0;
      const text = parts.map((part, i) => part.replaceAll('label', `${i}`)).join(gap);
      const written = (front + text.replace(/@/g, () => `w${++count}`)).replaceAll('\n', newline);
      if (count === 0) return;
      const mark = encoding === 'utf-8' ? '' : '\ufeff';
      const bytes = Buffer.from(mark + written, encoding === 'utf-16' ? 'utf16le' : 'utf8');
      const lineOf = new Map<string, number>();
      for (const [i, line] of linesOf(bytes).entries())
        for (const [word] of line.matchAll(/w\d+/g)) lineOf.set(word, i + 1);
      const { citations, source_text } = compiled(`a.${kind}`, bytes);
      for (const { start, end, lines } of placesOf(citations)) {
        const quote = source_text.slice(start, end);
        const there = [...quote.matchAll(/w\d+/g)].map(([word]) => lineOf.get(word) ?? 0);
        if (there.length === 0) continue;
        const expected = { first_line: Math.min(...there), last_line: Math.max(...there) };
        assert.deepEqual(lines, expected, JSON.stringify({ written, quote }));
      }
    }),
    RUNS,
  );
});
