import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentDisposition } from './filename.ts';

test('Content-Disposition follows RFC 6266 and avoids what its appendix D advises against', () => {
  const examples: [filename: string, header: string][] = [
    ['example.html', 'attachment; filename="example.html"'],
    ['foo bar.html', 'attachment; filename="foo bar.html"'],
    // The examples of RFC 6266, section 5, and RFC 8187, section 3.2.3.
    ['€ rates', `attachment; filename="_ rates"; filename*=UTF-8''%E2%82%AC%20rates`],
    ['£ and € rates', `attachment; filename="_ and _ rates"; filename*=UTF-8''%C2%A3%20and%20%E2%82%AC%20rates`],
    // Appendix D: the fallback for older browsers has no backslash, and no percent sign before two hex digits.
    ['a"b.html', `attachment; filename="a_b.html"; filename*=UTF-8''a%22b.html`],
    ['a\\b.html', `attachment; filename="a_b.html"; filename*=UTF-8''a%5Cb.html`],
    ['50%25.html', `attachment; filename="50_25.html"; filename*=UTF-8''50%2525.html`],
    ['naïve.html', `attachment; filename="na_ve.html"; filename*=UTF-8''na%C3%AFve.html`],
    // RFC 8187, section 3.2.1: attr-char excludes quotes, parentheses and asterisks.
    ["ä'(1)*.html", `attachment; filename="_'(1)*.html"; filename*=UTF-8''%C3%A4%27%281%29%2A.html`],
    ['a\r\nb', `attachment; filename="a__b"; filename*=UTF-8''a%0D%0Ab`],
  ];
  for (const [filename, header] of examples) assert.equal(contentDisposition('attachment', filename), header);
  assert.equal(contentDisposition('inline', 'a.png'), 'inline; filename="a.png"');
});
