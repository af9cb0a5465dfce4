import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TextKind } from './kinds.ts';
import { beginningOf } from './large-file.ts';

async function begin(file: Buffer | string, beginning: number, kind: TextKind = 'text', piece = 7) {
  const bytes = Buffer.from(file);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
  }
  const { bytes: read, rest } = await beginningOf(chunks(), { kind, beginning });
  return { read, ...rest };
}

test('a large file is read up to a line end, and the lines and characters of the rest are counted', async () => {
  const { read, lines, characters } = await begin('one\ntwo words\nthree\n  fünf\n', 16);
  assert.deepEqual([read.toString(), lines, characters], ['one\ntwo words\n', 2, 9]);
  const whole = await begin('one\ntwo', 100);
  assert.deepEqual([whole.read.toString(), whole.lines, whole.characters], ['one\ntwo', 0, 0]);
});

test('the beginning of a large file never ends within a character', async () => {
  for (let limit = 1; limit < 20; limit += 1) {
    const { read, characters } = await begin('é€😀'.repeat(3), limit);
    assert.equal(Buffer.from(read.toString()).compare(read), 0, `${limit} bytes`);
    assert.equal([...read.toString()].length + characters, 9);
    for (const swap of [false, true]) {
      const wide = Buffer.from('ab\nc\nd\n', 'utf16le');
      const { read: units } = await begin(swap ? wide.swap16() : wide, 2 * limit);
      assert.equal(units.length % 2, 0, `${2 * limit} bytes of UTF-16`);
    }
  }
});

test('pictures within HTML do not count towards its beginning, wherever the pieces end', async () => {
  const html = `<p>a<img src="data:image/png;base64,${'AAAA'.repeat(50)}" alt="x"><p>;base6<p>b;base64,<p>\n`.repeat(3);
  const expected = html.replaceAll('AAAA', '');
  for (const piece of [1, 5, 8, 100, 10_000]) {
    const { read, lines } = await begin(html, 10_000, 'html', piece);
    assert.equal(read.toString(), expected, `in pieces of ${piece}`);
    assert.equal(lines, 0);
  }
});
