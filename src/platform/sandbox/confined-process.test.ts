import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { startConfinedProcess } from './confined-process.ts';
import { NICE } from './priority.ts';
import { requestOf } from './rendering/messages.ts';
import { V8 } from './v8-options.ts';

const RENDERING = {
  name: 'rendering',
  memoryMb: 256,
  cpuTimeSeconds: 60,
  v8: V8.requests,
  nice: NICE.requests,
  maxOutputBytes: 2 ** 20,
  elapsedTimeFactor: 600,
};

function render(markdown: string) {
  const page = { wiki_id: '', markdown, page_path: 'x', pagesByTarget: new Map<string, string>() };
  return requestOf({ page }, '', undefined);
}

test('a process that exceeds its CPU time while the service is busy is not asked again', async () => {
  const process = await startConfinedProcess(RENDERING);
  try {
    const { header, body } = render('*a* '.repeat(5_000));
    const answer = process.ask(header, body, 1);
    // The request is sent. The answer arrives while this thread does nothing else, and so does the moment to measure.
    for (let i = 0; i < 5; i += 1) await setImmediate();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
    assert.equal(await answer, 'too_slow');
    assert.equal(process.isAlive(), false);
  } finally {
    await process.end();
  }
});
