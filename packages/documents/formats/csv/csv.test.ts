import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { csvToMarkdown } from './csv.ts';

test('a table with very many rows is truncated, and the rest of a partially read file is counted', () => {
  const { markdown, rest } = csvToMarkdown('a,b\n'.repeat(200_001));
  assert.match(markdown, /the first 1,000 of 200,000 rows; /);
  assert.equal(rest.length, 4 * 199_000 - 1);
  const behind = { lines: 1_000_000, characters: 5_000_000 };
  const cut = csvToMarkdown('a,b\n1,2\n3,"4\n', behind);
  assert.equal(
    cut.markdown,
    '| a | b |\n| - | - |\n| 1 | 2 |\n\nThis page shows the first 1 of about 1,000,001 rows; the file has them all.\n',
  );
  assert.throws(() => csvToMarkdown(`a,"b\n${'1,2\n'.repeat(500_000)}`, behind), /never closed/);
});

/** Returns the cells of the table by row. */
function cellsOf(text: string): string[][] {
  return csvToMarkdown(text)
    .markdown.split('\n')
    .filter((line) => line.startsWith('|') && !/^[|\s-]+$/.test(line.replaceAll(' ', '')))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

test('the records of RFC 4180, section 2, are read as specified', () => {
  const head = ['aaa', 'bbb', 'ccc'];
  const row = ['zzz', 'yyy', 'xxx'];
  assert.deepEqual(cellsOf('aaa,bbb,ccc\nzzz,yyy,xxx\n'), [head, row], '1: each record on a line of its own');
  assert.deepEqual(cellsOf('aaa,bbb,ccc\nzzz,yyy,xxx'), [head, row], '2: the last line may have no end');
  assert.deepEqual(cellsOf('"aaa","bbb","ccc"\nzzz,yyy,xxx'), [head, row], '5: with quotes or without');
  assert.deepEqual(
    cellsOf('"aaa","b\nbb","ccc"\nzzz,yyy,xxx'),
    [['aaa', 'b bb', 'ccc'], row],
    '6: line ends in quotes',
  );
  assert.deepEqual(cellsOf('"aaa","b""bb","ccc"'), [['aaa', 'b"bb', 'ccc']], '7: a quote is written twice');
  assert.deepEqual(
    cellsOf('a,"b,c"\nd,e'),
    [
      ['a', 'b,c'],
      ['d', 'e'],
    ],
    '6: separators in quotes',
  );
});

test('a first line that declares the separator for Excel is applied and not shown', () => {
  for (const said of ['sep=;', 'SEP=;', '"sep=;"']) {
    const { markdown, lines, file_characters } = csvToMarkdown(`${said}\nName;Sum, paid\nAnna;5\n`);
    assert.equal(markdown, '| Name | Sum, paid |\n| - | - |\n| Anna | 5 |\n', said);
    assert.equal(lines[0]?.line, 2);
    assert.equal(file_characters, 'NameSum,paidAnna5'.length);
  }
  assert.deepEqual(cellsOf('sep=|\na|b'), [['a', 'b']]);
  assert.deepEqual(cellsOf('sep=x,b\n1,2'), [
    ['sep=x', 'b'],
    ['1', '2'],
  ]);
});

test('input that RFC 4180 leaves undefined is read as spreadsheets do', () => {
  assert.deepEqual(cellsOf('a,"b" tail,c'), [['a', 'b tail', 'c']], 'text behind a closing quote is kept');
  assert.deepEqual(cellsOf('a,"b" ,c'), [['a', 'b', 'c']]);
  assert.deepEqual(cellsOf('5" disk,b'), [['5" disk', 'b']], 'a quote inside a value is one');
  assert.deepEqual(
    cellsOf('a,b\n1\n1,2,3'),
    [
      ['a', 'b', ''],
      ['1', '', ''],
      ['1', '2', '3'],
    ],
    'rows may be ragged',
  );
  assert.deepEqual(cellsOf('a,b,\n1,2,'), [
    ['a', 'b', ''],
    ['1', '2', ''],
  ]);
  for (const separator of [';', '\t']) {
    assert.deepEqual(cellsOf(['a', 'b,', 'c'].join(separator)), [['a', 'b,', 'c']]);
  }
  assert.throws(() => csvToMarkdown('a,"b\n1,2'), { code: 'unreadable' });
});

test('each row is cited by the lines of its record in the file', () => {
  const { lines } = csvToMarkdown('a,b\n\n"x\ny",1\n,\nlast,2\n');
  assert.deepEqual(lines, [
    { at: 1, line: 1, height: 1 },
    { at: 3, line: 3, height: 2 },
    { at: 4, line: 6, height: 1 },
    { at: 5, line: 0, height: 1 },
  ]);
});

test('a table written by RFC 4180 is read back, with its records and lines', () => {
  const value = fc.string({ unit: fc.constantFrom('a', 'é', ' ', ',', '"', '\n'), minLength: 0, maxLength: 6 });
  const table = fc.array(
    fc.array(
      value.map((text) => `x${text}x`),
      { minLength: 1, maxLength: 4 },
    ),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(table, (rows) => {
      const written = rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(','));
      const width = Math.max(...rows.map((row) => row.length));
      const shown = rows.map((row) => Array.from({ length: width }, (_, i) => (row[i] ?? '').replace(/\s+/g, ' ')));
      assert.deepEqual(cellsOf(`${written.join('\n')}\n`), shown);
    }),
  );
});
