import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { until } from '../../../test/until.ts';
import { type Answer, openWorld } from '../../../test/world.ts';
import { RENDERING_SHARES } from '../../platform/sandbox/rendering/limits.ts';

/** Counts of requested and rendered texts that are at least as long as LARGE. */
const large = { asked: 0, rendered: 0 };
const LARGE = 2 ** 19;
const world = await openWorld(
  { ROLE: 'web' },
  {
    services: (services) => ({
      ...services,
      renderPage: async (page, ...requester) => {
        if (page.markdown.length < LARGE) return services.renderPage(page, ...requester);
        large.asked += 1;
        const rendered = await services.renderPage(page, ...requester);
        large.rendered += 1;
        return rendered;
      },
    }),
  },
);
const LONG = '- a *word*\n'.repeat(120);

test('a user with too many concurrent previews is told when to retry, can still save, and delays no other user', async () => {
  const [many, other] = [await world.owner(), await world.owner()];
  const preview = (markdown: string) => many.post(`/v1/wikis/${many.wiki_id}/preview`, { markdown });
  const all = Array.from({ length: 3 * RENDERING_SHARES.person.requests }, () => preview(LONG));
  const saved = many.post(`/v1/wikis/${many.wiki_id}/pages`, { title: 'Saved', markdown: '# Saved\n' });
  const seen = other.post(`/v1/wikis/${other.wiki_id}/preview`, { markdown: '# Seen\n' });
  assert.equal((await seen).status, 200);
  assert.equal((await saved).status, 201, 'there is more room for saves');
  const answers: Answer[] = await Promise.all(all);
  const refused = answers.filter(({ status }) => status === 429);
  assert.ok(refused.length > 0 && refused.length < answers.length, `${refused.length} of ${answers.length}`);
  for (const { headers, body } of refused) {
    assert.equal(body.error, 'rate_limited');
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  }
  assert.ok(answers.every(({ status }) => status === 200 || status === 429));
  assert.equal((await preview('# Again')).status, 200);
});

longTest('a text that once ended the service is previewed, and the service goes on', async () => {
  const owner = await world.owner();
  const answer = await owner.post(`/v1/wikis/${owner.wiki_id}/preview`, { markdown: '![['.repeat(520_000) });
  assert.equal(answer.status, 200);
  assert.equal((await owner.get(`/v1/wikis/${owner.wiki_id}`)).status, 200);
});

test('previews of disconnected clients leave the queue, and a rendering in progress is aborted', async () => {
  const owner = await world.owner();
  const path = `/v1/wikis/${owner.wiki_id}/preview`;
  const gone = new AbortController();
  const before = { ...large };
  // Each takes seconds, and all are within the limit of concurrent requests of a tenant.
  const body = JSON.stringify({ markdown: '- a\n'.repeat(150_000) });
  const headers = { 'content-type': 'application/json' };
  const left = Promise.allSettled(
    Array.from({ length: 5 }, () => owner.send('POST', path, { body, headers, signal: gone.signal })),
  );
  await until(
    'all are waiting',
    () => large.asked - before.asked,
    (asked) => asked === 5,
  );
  gone.abort();
  await left;
  assert.equal((await owner.post(path, { markdown: '# Now' })).status, 200);
  assert.equal(large.rendered, before.rendered, 'no text was rendered for a client that went away');
});
