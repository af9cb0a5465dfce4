import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipOf } from '../../../../test/zip.ts';
import { filesIn } from './unpack.ts';
import { openZip } from './zip.ts';

const DIRECTORY_ENTRY = 'PK\x01\x02';
const DIRECTORY_END = 'PK\x05\x06';

/**
 * Rewrites an archive with its directory in ZIP64, and with the sizes and offset of each entry only in extra fields.
 */
function asZip64(zip: Buffer): Buffer {
  const end = zip.lastIndexOf(DIRECTORY_END);
  const at = zip.readUInt32LE(end + 16);
  const entries: Buffer[] = [];
  for (let from = at; from < end; ) {
    const length = 46 + zip.readUInt16LE(from + 28);
    const entry = Buffer.from(zip.subarray(from, from + length));
    const extra = Buffer.alloc(28);
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(24, 2);
    for (const [field, to] of [
      [24, 4],
      [20, 12],
      [42, 20],
    ] as const) {
      extra.writeBigUInt64LE(BigInt(entry.readUInt32LE(field)), to);
      entry.writeUInt32LE(0xffffffff, field);
    }
    entry.writeUInt16LE(extra.length, 30);
    entries.push(entry, extra);
    from += length;
  }
  const directory = Buffer.concat(entries);
  const record = Buffer.alloc(56);
  record.write('PK\x06\x06');
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(BigInt(zip.readUInt16LE(end + 10)), 24);
  record.writeBigUInt64LE(BigInt(zip.readUInt16LE(end + 10)), 32);
  record.writeBigUInt64LE(BigInt(directory.length), 40);
  record.writeBigUInt64LE(BigInt(at), 48);
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07');
  locator.writeBigUInt64LE(BigInt(at + directory.length), 8);
  locator.writeUInt32LE(1, 16);
  const last = Buffer.from(zip.subarray(end));
  last.fill(0xff, 8, 20);
  return Buffer.concat([zip.subarray(0, at), directory, record, locator, last]);
}

const TWO = zipOf([
  ['a.md', '# A\n'],
  ['d/b.md', '# B\n'],
]);

function read(zip: Uint8Array): [string, string][] {
  return openZip(zip).map((entry) => [entry.name, entry.read(1_000).toString()]);
}

test('an archive in ZIP64 is read like any other', () => {
  assert.deepEqual(read(asZip64(TWO)), [
    ['a.md', '# A\n'],
    ['d/b.md', '# B\n'],
  ]);
  const cut = asZip64(TWO);
  cut.writeUInt16LE(2, cut.indexOf(DIRECTORY_ENTRY) + 50 + 2);
  assert.throws(() => openZip(cut), /damaged/, 'numbers that are not there');
  const elsewhere = asZip64(TWO);
  elsewhere.writeBigUInt64LE(2n ** 60n, elsewhere.indexOf('PK\x06\x07') + 8);
  assert.throws(() => openZip(elsewhere), /damaged/, 'a record that is not there');
});

test('an archive with more entries than its count is refused, because its archiver counted modulo 65,536', () => {
  const zip = Buffer.from(TWO);
  const end = zip.lastIndexOf(DIRECTORY_END);
  zip.writeUInt16LE(1, end + 10);
  assert.throws(() => openZip(zip), /too many files; split it/);
});

test('folders are not files, even as written by Windows archivers', () => {
  const zip = zipOf([
    ['docs\\', ''],
    ['docs\\deep\\a.md', '# A\n'],
    ['docs/deep/', ''],
  ]);
  assert.deepEqual(read(zip), [['docs/deep/a.md', '# A\n']]);
});

test('a backslash as the second byte of a Japanese character does not split a name', () => {
  // "表/ソ.md" and "日本語.md" in Shift-JIS.
  const names = ['\x95\x5c/\x83\x5c.md', '\x93\xfa\x96\x7b\x8c\xea.md'].map((name) => Buffer.from(name, 'latin1'));
  assert.deepEqual(
    openZip(zipOf(names.map((name) => [name, 'x'] as const))).map(({ name }) => name),
    ['表/ソ.md', '日本語.md'],
  );
});

test('hidden files are omitted wherever they are, whichever slash separates folders', () => {
  const packed = filesIn(
    zipOf([
      ['a/.git\\config', 'x'],
      ['a\\.git\\config', 'x'],
      ['a\\.DS_Store', 'x'],
      ['__MACOSX\\a\\._b.md', 'x'],
      ['a/Icon\r', ''],
      ['a\\b.md', '# B\n'],
    ]),
  );
  assert.deepEqual(
    packed?.files.map(({ name }) => name),
    ['a/b.md'],
  );
  assert.equal(packed?.left_out.hidden, 5);
});

test('a file whose bytes do not match their checksum is refused', () => {
  const zip = Buffer.from(TWO);
  zip.writeUInt32LE(1, zip.indexOf(DIRECTORY_ENTRY) + 16);
  const files = filesIn(zip)?.files ?? [];
  assert.throws(() => files[0]?.read(), /damaged in its archive; pack it again/);
  assert.equal(files[1]?.read().toString(), '# B\n');
});
