import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent } from '../../../../../test/extent.ts';
import type { PdfBlock, Place } from '../pdf-block.ts';
import { insertPictures } from './picture-places.ts';

const PLACES_RUNS = process.env.PLACES_RUNS ?? extent(1_000, 200);

const length = fc.integer({ min: 0, max: 800 });
const place = fc
  .record({ page: fc.integer({ min: 1, max: 3 }), x: length, width: length, bottom: length, height: length })
  .map(({ page, x, width, bottom, height }): Place => ({ page, x, right: x + width, bottom, top: bottom + height }));

const block = fc.tuple(fc.string(), fc.array(place, { minLength: 1, maxLength: 3 })).map(([text, places]): PdfBlock => {
  return { kind: 'text', runs: [{ text, url: '' }], rows: [], size: 10, isFull: false, places };
});

test('every picture is shown once in any layout, without a change to the text and its order', () => {
  fc.assert(
    fc.property(fc.array(block), fc.array(place), (blocks, places) => {
      const pictures = places.map((each, i) => ({ address: `attachment:${i}`, place: each }));
      const all = insertPictures(blocks, pictures);
      assert.deepEqual(
        all.filter(({ kind }) => kind !== 'picture'),
        blocks,
      );
      const shown = all.flatMap(({ kind, runs }) => (kind === 'picture' ? (runs[0]?.url ?? '') : []));
      assert.deepEqual(shown.sort(), pictures.map(({ address }) => address).sort());
    }),
    { numRuns: Number(PLACES_RUNS) },
  );
});
