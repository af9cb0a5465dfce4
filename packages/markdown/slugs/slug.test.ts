import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../../test/any-text.ts';
import { isSlug, numberedSlug, RESERVED_SLUGS, slugFrom } from './slug.ts';

test('a slug is 1 to 48 of a-z, 0-9 and single dashes, neither first nor last', () => {
  for (const slug of ['a', '0', 'main', 'a-b', 'v1', 'a'.repeat(48), `a-${'b'.repeat(46)}`]) {
    assert.ok(isSlug(slug), `${slug} is well formed and must be accepted`);
  }
  const malformed = ['', '-', '-a', 'a-', 'a--b', 'A', 'ä', 'а', 'a b', 'a/b', '../x', '%2e', 'a\n', 'a'.repeat(49)];
  for (const text of malformed) assert.ok(!isSlug(text), `${JSON.stringify(text)} must be refused`);
});

test('Latin, Greek and Cyrillic letters are transliterated, everything else becomes one dash', () => {
  const expected: [string, string][] = [
    ['Acme Corp.', 'acme-corp'],
    ['  --Hello,   World!--  ', 'hello-world'],
    ['Crème Brûlée', 'creme-brulee'],
    ['Straße ÆØÅ œuvre Łódź Đà Nẵng þing ısı', 'strasse-aeoa-oeuvre-lodz-da-nang-thing-isi'],
    ['Ελληνικά Άλφα', 'ellinika-alfa'],
    ['Щёлково, Йошкар-Ола', 'shchyolkovo-yoshkar-ola'],
    ['Київ подъезд', 'kiyiv-podezd'],
    ['ＦＵＬＬ　ｗｉｄｔｈ ﬁne ① ℌ', 'full-width-fine-1-h'],
    ['Cafe\u0301 и\u0306од', 'cafe-yod'],
    ['日本語 guide', 'guide'],
  ];
  for (const [text, slug] of expected) assert.equal(slugFrom(text, 'page'), slug);
});

test('a text of other scripts only, or without letters, gets the fallback', () => {
  for (const text of ['', '日本語', 'العربية', '!!!', '\u0000', '👋', '---']) {
    assert.equal(slugFrom(text, 'page'), 'page');
  }
});

test('the slug and the numbered slugs of any text are well formed and differ', () => {
  const texts = fc.oneof(
    anyText({ maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    fc.string({ unit: fc.constantFrom('a', 'B', '-', ' ', 'ß', 'Щ', 'é', '.', '/'), maxLength: 120 }),
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 10 ** 10 }), (text, n) => {
      const slug = slugFrom(text, 'page');
      const numbered = numberedSlug(slug, n);
      assert.ok(isSlug(slug), `${slug} is not a slug`);
      assert.ok(isSlug(numbered), `${numbered} is not a slug`);
      assert.ok(numbered.endsWith(`-${n}`), 'the number must survive the cut');
      assert.equal(slugFrom(slug, 'page'), slug, 'a slug must lead to itself');
    }),
    { numRuns: 500 },
  );
});

test('a reserved word is a well-formed slug, so that it is refused as taken and not as malformed', () => {
  for (const word of ['api', 'v1', 'sign-in', 'me']) assert.ok(RESERVED_SLUGS.has(word));
  for (const word of RESERVED_SLUGS) assert.ok(isSlug(word));
});
