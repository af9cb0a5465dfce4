import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { decodeHtml, decodeText } from './decode.ts';

function bytes(latin1: string): Uint8Array {
  return Buffer.from(latin1, 'latin1');
}

/** Encodes a text with iconv. */
function encode(text: string, encoding: string): Uint8Array {
  return execFileSync('iconv', ['-f', 'UTF-8', '-t', encoding], { input: text });
}

const JAPANESE = '# 日本語のテスト\n\nこれは文章です。\n';

/** The name of an encoding in declarations, its name for iconv, and a text. */
const ENCODINGS: [name: string, iconv: string, text: string][] = [
  ['Shift_JIS', 'SHIFT_JIS', JAPANESE],
  ['EUC-JP', 'EUC-JP', JAPANESE],
  ['EUC-KR', 'EUC-KR', '# 한국어 시험\n\n글입니다.\n'],
  ['GB18030', 'GB18030', '# 中文测试\n\n这是一段文字。\n'],
  ['Big5', 'BIG5', '# 中文測試\n\n這是一段文字。\n'],
  ['windows-1251', 'CP1251', '# Проверка\n\nЭто текст.\n'],
  ['windows-1252', 'CP1252', '# “Übung” – 5 €\n'],
  ['ISO-8859-2', 'ISO-8859-2', '# Příliš žluťoučký kůň\n'],
  ['KOI8-R', 'KOI8-R', '# Проверка\n'],
];

for (const [name, iconv, text] of ENCODINGS) {
  test(`a text in ${name} is decoded if its type, XML declaration or editor modeline names the encoding`, () => {
    assert.equal(decodeText(encode(text, iconv), `text/plain; charset=${name}`), text);
    const declared = [
      `<?xml version="1.0" encoding="${name}"?>\n${text}`,
      `${text}<!-- -*- coding: ${name.toLowerCase()}-unix -*- -->\n`.split('\n').reverse().join('\n').slice(1),
      `${text}vim: set ts=2 fileencoding=${name.toLowerCase()} :\n`,
      `# coding: ${name.toLowerCase()}\n${text}`,
    ];
    for (const each of declared) assert.equal(decodeText(encode(each, iconv)), each);
    const html = `<meta charset="${name}"><p>${text}`;
    assert.equal(decodeHtml(encode(html, iconv), ''), html);
    assert.throws(() => decodeText(encode(text, iconv)), /declares no other encoding; save it as UTF-8/);
  });
}

test('ISO-2022-JP is recognized by its escape sequences, and terminal colours are not mistaken for them', () => {
  assert.equal(decodeText(encode(JAPANESE, 'ISO-2022-JP')), JAPANESE);
  assert.equal(decodeText(bytes('\x1b[31mred\x1b(B\x1b[m')), '\x1b[31mred\x1b(B\x1b[m');
  assert.equal(decodeText(bytes('ESC $ B \x1b$ and \x1b(B')), 'ESC $ B \x1b$ and \x1b(B');
});

test('UTF-16 without a byte order mark is recognized by its NULs', () => {
  for (const text of [JAPANESE, '# A title\n\nSome text.\n', 'Один текст и ещё один.\n']) {
    assert.equal(decodeText(encode(text, 'UTF-16LE')), text);
    assert.equal(decodeText(encode(text, 'UTF-16BE')), text);
  }
  const program = Buffer.from([0x7f, 0x45, 0, 1, 2, 0, 3, 0, 0, 0, 0, 9, 8, 0, 0, 1]);
  assert.throws(() => decodeText(program), /NUL bytes/);
  assert.throws(() => decodeText(bytes('\x01\0\x02\0\x03\0\x04\0\x05\0')), /NUL bytes/);
});

test('an encoding outside of the Encoding Standard is named, and never read as another', () => {
  assert.throws(() => decodeText(encode('한국어 텍스트\n', 'ISO-2022-KR')), /is ISO-2022-KR text; save it as UTF-8/);
  assert.throws(() => decodeText(encode('中文\n', 'ISO-2022-CN')), /is ISO-2022-CN text; save it as UTF-8/);
  assert.throws(() => decodeText(encode('Text', 'UTF-32')), /is UTF-32 text; save it as UTF-8/);
  assert.equal(decodeText(bytes('\x1b$)C without a shift')), '\x1b$)C without a shift');
});

test('valid UTF-8 is read as UTF-8, whatever a modeline declares', () => {
  const text = '# coding: latin-1\né\n';
  assert.equal(decodeText(Buffer.from(text)), text);
  assert.equal(decodeText(Buffer.from('é'), 'text/plain; charset=windows-1252'), 'é');
});

test('a text that is invalid in its declared encoding fails and names the encoding', () => {
  assert.throws(
    () => decodeText(bytes('\xff\xff'), 'text/plain; charset=euc-jp'),
    /declares euc-jp, but its text is not valid/,
  );
  assert.throws(
    () => decodeText(bytes('\xff\xff'), 'text/plain; charset=klingon'),
    /declares klingon, but its text is not valid/,
  );
});
