import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { sharedWorld } from './shared-world.ts';
import { corpus } from './world.ts';

/**
 * ROUND_TRIPS: the number of files of each collection. Without the collections, the tests use the project's own
 * documents.
 */
const FILES = Number(process.env.ROUND_TRIPS || 40);
const OWN = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];

const world = await sharedWorld();

async function filesOf(folder: string): Promise<[string, string][]> {
  const found = await corpus(folder);
  if (found) return Object.entries(found).map(([name, bytes]) => [name, bytes.toString('utf8')]);
  return Promise.all(
    OWN.map(async (name) => [name, await readFile(new URL(name, PACKAGE), 'utf8')] as [string, string]),
  );
}

for (const folder of ['tldr/common', 'tldr/ja']) {
  test(`every file of ${folder} is returned byte for byte, and writing it back makes no new revision`, async (t) => {
    const owner = await world.owner();
    const pages = `/v1/wikis/${owner.wiki_id}/pages`;
    const files = (await filesOf(folder)).slice(0, FILES);
    assert.ok(files.length > 0);
    for (const [name, markdown] of files) {
      const made = await owner.post(pages, { title: name, markdown });
      assert.equal(made.status, 201, `${name}: ${JSON.stringify(made.body)}`);
      const path = `${pages}/${made.body.page_id}`;
      const { body: read } = await owner.get(`${pages}/path/${made.body.path}`, { accept: 'text/markdown' });
      assert.equal(read, markdown, name);
      const back = await owner.patch(path, { markdown: read, title: made.body.title, base_revision: 1 });
      assert.deepEqual([back.status, back.body.revision, back.body.updated_at], [200, 1, made.body.updated_at], name);
      assert.equal((await owner.get(`${path}/revisions`)).body.length, 1, name);
    }
    t.diagnostic(`${files.length} files`);
  });
}
