import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { zipOf } from '../../../../test/zip.ts';
import { openZip } from './zip.ts';

function namesIn(...files: [name: string | Uint8Array, extra?: Uint8Array][]): string[] {
  return openZip(zipOf(files.map(([name, extra]) => [name, 'x', extra]))).map(({ name }) => name);
}

/** The extra field 0x7075 of a name; `of`: the name that its checksum is computed from. */
function unicodePath(name: string, of: Uint8Array): Uint8Array {
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(5 + Buffer.byteLength(name), 2);
  field[4] = 1;
  field.writeUInt32LE(crc32(of), 5);
  // Other fields come before it.
  return Buffer.concat([Buffer.from([0x55, 0x54, 2, 0, 1, 1]), field, Buffer.from(name)]);
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
/** "日本語.md" and "テスト.md" in Shift-JIS. */
const NIHONGO = latin1('\x93\xfa\x96\x7b\x8c\xea.md');
const TEST = latin1('\x83\x65\x83\x58\x83\x67.md');

test('undeclared names of an archive are read as UTF-8 if they are valid, and otherwise in the DOS code page', () => {
  assert.deepEqual(namesIn([Buffer.from('Übersicht.md')], [latin1('\x9abersicht.md')], [latin1('Gr\x94\xe1e.md')]), [
    'Übersicht.md',
    'Übersicht.md',
    'Größe.md',
  ]);
  assert.deepEqual(namesIn([latin1('na\x8bve caf\x82.md')]), ['naïve café.md']);
});

test('names are read as Shift-JIS if all of them are Japanese and they are not words in the DOS code page', () => {
  assert.deepEqual(namesIn([NIHONGO], [TEST], ['plain.md']), ['日本語.md', 'テスト.md', 'plain.md']);
  assert.deepEqual(
    namesIn([NIHONGO], [latin1('\x9abersicht \x81.md')]),
    ['ô·û{îΩ.md', 'Übersicht ü.md'],
    'one that is none says that they are not',
  );
});

test('double-byte names that may be Chinese, Korean or Japanese prove no encoding', () => {
  // "中文" in GB2312, and the same bytes in the DOS code page.
  assert.deepEqual(namesIn([latin1('\xd6\xd0\xce\xc4.md')]), ['╓╨╬─.md']);
});

test('the name in the Unicode extra field is used only if its checksum matches the name', () => {
  const name = latin1('\x83\x65.md');
  assert.deepEqual(namesIn([name, unicodePath('Ζ δέλτα.md', name)]), ['Ζ δέλτα.md']);
  assert.deepEqual(namesIn([name, unicodePath('Ζ δέλτα.md', latin1('another.md'))]), ['âe.md']);
  assert.deepEqual(namesIn([name, Buffer.from([0x75, 0x70, 0xff, 0xff, 1, 2])]), ['âe.md'], 'a field cut off');
});

test('a name declared as UTF-8 that is invalid keeps its readable characters', () => {
  const zip = zipOf([['a?.md', 'x']]);
  for (let at = zip.indexOf('a?.md'); at >= 0; at = zip.indexOf('a?.md', at + 1)) zip[at + 1] = 0xff;
  assert.deepEqual(
    openZip(zip).map(({ name }) => name),
    ['a\ufffd.md'],
  );
});
