import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers } from '../../../../test/random-numbers.ts';
import { chooseSegmentsToMerge } from './merge-postings.ts';
import { packedWithoutDead, packPairs, unitePacked } from './packed-postings.ts';
import { MAX_POSTING_BYTES, type Postings, readPostings, unitePostings, withoutDead } from './postings.ts';
import { liveDocumentsIn, type Segment } from './segments.ts';

const BYTES_OF_A_DOCUMENT = 600;
const DOCUMENTS = 8_000;
const BATCH = 32;

/**
 * Models an index for the choice of segments: the documents of each segment, all of the same size, and its dead
 * documents.
 */
function openIndex() {
  let segments: Segment[] = [];
  const bytesOf = (some: readonly Segment[]) => some.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    segments: () => segments,
    /**
     * Merges documents. Returns the bytes on disk afterwards, including the replaced segments, and the bytes written.
     */
    merge(numbers: readonly number[]) {
      const taken = chooseSegmentsToMerge(segments, BYTES_OF_A_DOCUMENT * numbers.length, numbers);
      const held = new Set(numbers);
      for (const segment of taken) {
        for (const number of liveDocumentsIn(segment, [...(segment.held ?? [])])) held.add(number);
      }
      const others = segments.filter((segment) => !taken.includes(segment));
      for (const { dead, ...segment } of others)
        for (const one of liveDocumentsIn({ dead, ...segment }, numbers)) dead.add(one);
      const made = {
        segment_id: String(Math.random()),
        documents: held.size,
        bytes: BYTES_OF_A_DOCUMENT * held.size,
        dead: new Set<number>(),
        held: Uint32Array.from(held).sort(),
      };
      segments = [...others, made];
      return { onDisk: bytesOf(segments) + bytesOf(taken), written: made.bytes };
    },
  };
}

test('an index with many edits takes little more than its live size, even during a merge, and has few segments', () => {
  const index = openIndex();
  const live = BYTES_OF_A_DOCUMENT * DOCUMENTS;
  for (let at = 0; at < DOCUMENTS; at += 500) index.merge(Array.from({ length: 500 }, (_, i) => at + i));
  const random = randomNumbers(3);
  let [most, segments, written] = [0, 0, 0];
  const edits = 2 * DOCUMENTS;
  for (let done = 0; done < edits; done += BATCH) {
    const numbers = new Set(Array.from({ length: BATCH }, () => Math.floor(random() * DOCUMENTS)));
    const merged = index.merge([...numbers].sort((a, b) => a - b));
    most = Math.max(most, merged.onDisk);
    segments = Math.max(segments, index.segments().length);
    written += merged.written;
  }
  assert.ok(most < 1.6 * live, `${(most / live).toFixed(2)} times the live size`);
  assert.ok(segments <= 14, `${segments} segments`);
  assert.ok(
    written / edits < 8 * BYTES_OF_A_DOCUMENT,
    `each edit was written ${written / edits / BYTES_OF_A_DOCUMENT} times`,
  );
  const counts = new Map<number, number>();
  for (const segment of index.segments()) {
    for (const number of liveDocumentsIn(segment, [...(segment.held ?? [])]))
      counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  assert.deepEqual([counts.size, new Set(counts.values())], [DOCUMENTS, new Set([1])], 'each document counts once');
});

test('merging packed postings without dead documents gives the same result as merging them unpacked', () => {
  const random = randomNumbers(5);
  const below = (most: number) => Math.floor(random() * most);
  for (let round = 0; round < 400; round += 1) {
    // Numbers of one to five bytes, with few or many of them in several lists.
    const most = [8, 300, 20_000, 3_000_000, 2 ** 32][round % 5] as number;
    // In every other round the ranges of the lists do not overlap, as is usual for segments, and are in any order.
    const apart = round % 2 === 0 && most < 2 ** 32 ? most : 0;
    const lists: Postings[] = Array.from({ length: below(4) }, (_, i, turn = (i * 3) % 4) => {
      const some = Array.from({ length: below(40) }, () => turn * apart + below(most));
      const numbers = Uint32Array.from(new Set(some)).sort();
      return { numbers, impacts: Uint8Array.from(numbers, () => 1 + below(255)) };
    });
    const dead = new Set(lists.flatMap(({ numbers }) => [...numbers].filter(() => below(round % 3) === 1)));
    const packed = lists.map(({ numbers, impacts }) => {
      const pairs = [...numbers].flatMap((number, i) => [number, impacts[i] as number]);
      return packedWithoutDead(packPairs(pairs, numbers.length * MAX_POSTING_BYTES), dead);
    });
    const { bytes, from, to } = unitePacked(packed);
    const expected = unitePostings(lists.map((list) => withoutDead(list, dead)));
    const joined = readPostings(bytes, from, to);
    assert.deepEqual([...joined.numbers], [...expected.numbers]);
    assert.deepEqual([...joined.impacts], [...expected.impacts]);
  }
});
