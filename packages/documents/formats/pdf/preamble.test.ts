import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdfOf } from '../../../../test/pdf.ts';
import { fileKind, isDocument } from '../file-type.ts';
import { readDocument } from '../read-document.ts';

const PDF = pdfOf([[['A text of a page.', 50, 700]]]);
const file = (before: string, filename: string, content_type = '') => ({
  filename,
  content_type,
  bytes: Buffer.concat([Buffer.from(before), PDF]),
});

test('a PDF is recognized after a preamble of other lines', async () => {
  for (const before of ['GPL Converter 10.0\n', '\r\n', `${'x'.repeat(1_000)}\r\n`]) {
    for (const each of [file(before, 'a.pdf'), file(before, 'a', 'application/pdf')]) {
      assert.equal(isDocument(each), true, before);
      assert.equal((await readDocument(each)).markdown, 'A text of a page.\n');
    }
  }
});

test('a quoted or misplaced PDF header does not make a PDF', () => {
  assert.equal(isDocument(file('A PDF begins so:\n', 'a.md')), false);
  assert.equal(isDocument(file('A PDF begins so:\n', 'a', 'text/plain')), false);
  const inline = { filename: 'a.pdf', content_type: '', bytes: Buffer.from('It begins with %PDF-1.7 as a rule.') };
  assert.equal(isDocument(inline), false);
  assert.equal(fileKind(inline), 'text');
  assert.equal(isDocument(file(`${'x'.repeat(1_100)}\n`, 'a.pdf')), false);
});
