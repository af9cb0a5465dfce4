import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../../test/world.ts';

const world = await openWorld();
const owner = await world.owner();

async function newWiki() {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Documents' });
  const at = `/v1/wikis/${body.wiki_id}`;
  const page = async (path: string) => {
    const answer = await owner.get(`${at}/pages/path/${path}`);
    assert.equal(answer.status, 200, `there must be a page ${path}`);
    return answer.body;
  };
  return {
    wiki_id: body.wiki_id as string,
    at,
    page,
    markdown: async (path: string) => (await page(path)).markdown as string,
    upload: async (files: Record<string, string | Uint8Array>): Promise<string> => {
      const upload = await world.upload(owner, body.wiki_id, files);
      assert.equal(upload.body.status, 'completed', JSON.stringify(upload.body));
      return upload.body.summary;
    },
    backlinks: async (path: string): Promise<string[]> =>
      (await owner.get(`${at}/pages/${(await page(path)).page_id}/backlinks`)).body.map(
        (each: { path: string }) => each.path,
      ),
  };
}

const html = (title: string, body: string) => `<!doctype html><title>${title}</title><body>${body}`;

test('two documents of one upload that name each other are linked, and are each other’s backlinks', async () => {
  const wiki = await newWiki();
  await wiki.upload({
    'legal/dpa.html': html('Data Processing Agreement', '<p>It belongs to the Master Service Contract.'),
    'sales/msc.html': html('Master Service Contract', '<p>See the Data Processing Agreement, §3. The Data Processing Agreement wins.'),
  });
  assert.equal(
    await wiki.markdown('sales/msc'),
    'See the [Data Processing Agreement](../legal/dpa), §3. The Data Processing Agreement wins.\n',
  );
  assert.equal(await wiki.markdown('legal/dpa'), 'It belongs to the [Master Service Contract](../sales/msc).\n');
  assert.match((await wiki.page('legal/dpa')).html, /<a href="\.\.\/sales\/msc">Master Service Contract<\/a>/);
  assert.deepEqual(await wiki.backlinks('legal/dpa'), ['sales/msc']);
  assert.deepEqual(await wiki.backlinks('sales/msc'), ['legal/dpa']);
});
