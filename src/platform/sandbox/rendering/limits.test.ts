import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRenderingLimits, RENDERING_SHARES, type Requester } from './limits.ts';

const { workspace, person } = RENDERING_SHARES;

function requester(kind: Requester['kind'], user_id = 'u', workspace_id = 'w'): Requester {
  return { kind, user_id, workspace_id };
}

/** Returns the seconds to wait; 0 if the request may enter. */
function refusal(enter: () => unknown): number {
  try {
    enter();
    return 0;
  } catch (error) {
    const { code, retry_after = 0 } = error as { code: string; retry_after?: number };
    assert.equal(code, 'rate_limited');
    return retry_after;
  }
}

test('a person has a limit of pending requests, twice as high for saves, which does not affect other people', () => {
  const limits = openRenderingLimits();
  const entries = Array.from({ length: person.requests }, () => limits.enter(requester('preview'), 1));
  assert.equal(
    refusal(() => limits.enter(requester('preview'), 1)),
    1,
  );
  for (let i = 0; i < person.requests; i += 1) limits.enter(requester('save'), 1);
  assert.equal(
    refusal(() => limits.enter(requester('save'), 1)),
    1,
  );
  assert.equal(
    refusal(() => limits.enter(requester('preview', 'other', 'another'), 1)),
    0,
  );
  for (const entry of entries) entry.leave(0);
  assert.equal(
    refusal(() => limits.enter(requester('save'), 1)),
    0,
  );
});

test('the members of a workspace share its limits of requests and bytes, but one text always has room', () => {
  const limits = openRenderingLimits();
  for (let i = 0; i < workspace.requests; i += 1) limits.enter(requester('preview', `u${i}`), 1);
  assert.equal(
    refusal(() => limits.enter(requester('preview', 'one more'), 1)),
    1,
  );
  assert.equal(
    refusal(() => limits.enter(requester('preview', 'one more', 'w2'), workspace.bytes + 1)),
    0,
  );
  assert.equal(
    refusal(() => limits.enter(requester('preview', 'another', 'w2'), 1)),
    1,
  );
});

test('used CPU time is regained over time; until then previews are refused, and saves after twice as much', () => {
  let now = 0;
  const limits = openRenderingLimits(RENDERING_SHARES, () => now);
  const queued = limits.enter(requester('preview'), 1);
  const entry = limits.enter(requester('preview'), 1);
  entry.leave(person.cpuMs + 4_000);
  assert.equal(
    refusal(() => limits.enter(requester('preview'), 1)),
    Math.ceil(4_000 / person.cpuMsPerSecond),
  );
  assert.throws(
    () => queued.assertTimeLeft(),
    { code: 'rate_limited' },
    'requests that already wait are refused in order',
  );
  queued.leave(0);
  const save = limits.enter(requester('save'), 1);
  save.leave(person.cpuMs);
  assert.ok(refusal(() => limits.enter(requester('save'), 1)) > 0);
  now += (1_000 * (person.cpuMs + 4_000)) / person.cpuMsPerSecond;
  assert.equal(
    refusal(() => limits.enter(requester('preview'), 1)),
    0,
  );
});

test('refused requests are not counted, and idle people are forgotten', () => {
  let now = 0;
  const limits = openRenderingLimits(RENDERING_SHARES, () => now);
  for (let i = 0; i < 5_000; i += 1) {
    limits.enter(requester('preview', `user ${i}`, `workspace ${i}`), 1).leave(10);
    now += 100;
  }
  for (let i = 0; i < person.requests; i += 1) limits.enter(requester('preview'), 1);
  for (let i = 0; i < 100; i += 1) refusal(() => limits.enter(requester('preview'), 1));
  assert.ok(limits.size() < 2_000, `${limits.size()} are remembered`);
});
