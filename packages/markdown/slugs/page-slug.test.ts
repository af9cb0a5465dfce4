import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../../test/any-text.ts';
import { isPageSlug, numberedPageSlug, pageSlugFrom } from './page-slug.ts';
import { slugFrom } from './slug.ts';

test('letters of scripts that are not transliterated stay, in lower case and NFC', () => {
  const expected: [string, string][] = [
    ['日本語', '日本語'],
    ['設定 ガイド', '設定-ガイド'],
    ['カ\u3099イト\u3099', 'ガイド'],
    ['ｶﾞｲﾄﾞ', 'ガイド'],
    ['한국어', '한국어'],
    ['한국어'.normalize('NFD'), '한국어'],
    ['العربية', 'العربية'],
    ['עברית!', 'עברית'],
    ['ภาษาไทย', 'ภาษาไทย'],
    ['हिन्दी', 'हिन्दी'],
    ['می\u200cخواهم', 'میخواهم'],
    ['Հայերեն', 'հայերեն'],
    ['ᲥᲐᲠᲗᲣᲚᲘ', 'ქართული'],
    ['Docker 入門 (第2版)', 'docker-入門-第2版'],
    ['日本語 guide', '日本語-guide'],
    ['𠮷野家', '𠮷野家'],
  ];
  for (const [text, slug] of expected) {
    assert.equal(pageSlugFrom(text, 'page'), slug);
    assert.ok(isPageSlug(slug), slug);
  }
});

test('a transliterated text has the same slug as in slugFrom, so that addresses stay', () => {
  for (const text of [
    'Acme Corp.',
    'Crème Brûlée',
    'Straße ÆØÅ œuvre Łódź Đà Nẵng þing ısı',
    'Ελληνικά Άλφα',
    'Щёлково, Йошкар-Ола',
    'Київ подъезд',
    'ＦＵＬＬ　ｗｉｄｔｈ ﬁne ① ℌ ½',
    'Cafe\u0301 и\u0306од',
    '👋 hello',
    '!!!',
    '',
    'x'.repeat(100),
  ]) {
    assert.equal(pageSlugFrom(text, 'page'), slugFrom(text, 'page'), text);
  }
});

test('unnormalized slugs and texts that are no slugs are refused', () => {
  for (const text of [
    '',
    '-a',
    'a-',
    'a--b',
    'A',
    'ä',
    'а',
    '日本語-',
    '日 本',
    '日/本',
    'ｶ',
    'か\u3099',
    '日'.repeat(49),
  ]) {
    assert.ok(!isPageSlug(text), `${JSON.stringify(text)} must be refused`);
  }
});

test('the slug and the numbered slugs of any text are well formed and differ', () => {
  const texts = fc.oneof(
    anyText({ maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    fc.string({
      unit: fc.constantFrom('日', 'ไ', '\u0e49', 'ﷺ', 'B', '-', ' ', 'ß', 'Щ', '𠮷', 'ｶ', 'ﾞ', 'ᄒ', 'ᅡ'),
      maxLength: 120,
    }),
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 10 ** 10 }), (text, n) => {
      const slug = pageSlugFrom(text, 'page');
      const numbered = numberedPageSlug(slug, n);
      assert.ok([...slug].length <= 48 && [...numbered].length <= 48);
      assert.ok(isPageSlug(slug), `${slug} is not a slug`);
      assert.ok(isPageSlug(numbered), `${numbered} is not a slug`);
      assert.ok(numbered.endsWith(`-${n}`), 'the number must survive the cut');
      assert.equal(pageSlugFrom(slug, 'page'), slug, 'a slug must lead to itself');
      assert.ok(slug.isWellFormed());
    }),
    { numRuns: 2000 },
  );
});
