import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent } from '../../../test/extent.ts';
import { compiledAhead } from './compile-ahead.ts';

const turns = async (n: number) => {
  for (let i = 0; i < n; i += 1) await Promise.resolve();
};

test('results keep the order of the files, with bounded concurrency, until a failure or a stop', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(20), { maxLength: 30 }),
      fc.option(fc.nat(30)),
      fc.option(fc.nat(30)),
      fc.option(fc.nat(30)),
      async (takes, fails, stops, leaves) => {
        const stopping = new AbortController();
        let running = 0;
        let most = 0;
        const compile = async (file: number) => {
          running += 1;
          most = Math.max(most, running);
          await turns(takes[file] ?? 0);
          running -= 1;
          if (file === fails) throw new Error(`file ${file} fails`);
          return file;
        };
        const got: number[] = [];
        const taking = (async () => {
          for await (const file of compiledAhead(takes.keys(), compile, stopping.signal)) {
            got.push(file);
            if (file === stops) stopping.abort();
            if (file === leaves) return;
          }
        })();
        const end = await taking.then(
          () => 'ended',
          () => 'failed',
        );
        assert.deepEqual(got, [...got.keys()], 'in order and complete');
        assert.ok(most <= 4, `${most} were under way at once`);
        assert.equal(running, 0, 'nothing may still be running at the end');
        const wanted = Math.min(takes.length, fails ?? 99, leaves === null ? 99 : leaves + 1);
        if (stops === null || stops >= wanted) assert.equal(got.length, wanted);
        if (end === 'failed') assert.equal(got.length, fails);
      },
    ),
    { numRuns: extent(1_000, 200) },
  );
});
