import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../test/until.ts';
import { type Client, openWorld, waitForUpload } from '../../test/world.ts';

const world = await openWorld();

test('whoever uploads much into several wikis keeps another workspace waiting for none of it', async () => {
  const [busy, other] = [await world.owner(), await world.owner()];
  const wikis = [busy.wiki_id];
  for (const title of ['Second', 'Third', 'Fourth', 'Fifth']) {
    const { body } = await busy.post(`/v1/workspaces/${busy.workspace_id}/wikis`, { title });
    wikis.push(body.wiki_id);
  }
  await Promise.all(wikis.map((wiki_id) => upload(busy, wiki_id, 400)));
  const jobs = async () => {
    const lists = await Promise.all(wikis.map(async (wiki_id) => (await busy.get(`/v1/wikis/${wiki_id}/jobs`)).body));
    return lists.flat() as { status: string; progress: number }[];
  };
  await until('they are worked on', async () => (await jobs()).some(({ progress }) => progress > 0));

  await waitForUpload(other, other.wiki_id, await upload(other, other.wiki_id, 1));
  const waiting = (await jobs()).filter(({ status }) => status === 'queued');
  assert.notDeepEqual(
    waiting,
    [],
    'Of five long uploads some must still wait for their turn when the short one has ended.',
  );
  await until('all have ended', async () => (await jobs()).every(({ status }) => status === 'completed'));
});

async function upload(client: Client, wiki_id: string, files: number): Promise<string> {
  const form = new FormData();
  for (let i = 0; i < files; i += 1) form.append('files', new Blob([`# Page ${i}\n\nIts words.\n`]), `${i}.md`);
  const { status, body } = await client.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
  assert.equal(status, 201, JSON.stringify(body));
  return body.upload_id;
}
