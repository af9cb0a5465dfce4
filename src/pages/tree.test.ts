import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../../test/world.ts';
import { sql } from '../db/sql.ts';

/** The tree is sent in pieces of some hundred pages. */
const world = await openWorld({ ROLE: 'web' });

for (const pages of [0, 1, 500, 501, 1_203]) {
  test(`a tree of ${pages} pages is whole and in its order, whichever characters its titles have, and known by its ETag`, async () => {
    const owner = await world.owner();
    const { wiki_id } = owner;
    await world.db.query(sql`delete from pages where wiki_id = ${wiki_id}`);
    await world.db.query(sql`
      insert into pages (wiki_id, page_id, path, slug, title, parent_path, position, origin, revision, word_count, created_by, updated_by)
      select ${wiki_id}, 'page_' || n, slug, slug, 'Größe "' || n || E'" \\\\ \\n 😀', null, ${pages}::int - n, 'authored', 1, 3, 'user_t', 'user_t'
      from generate_series(1, ${pages}::int) n, lateral (select 's"\\' || n as slug) given`);
    const path = `/v1/wikis/${wiki_id}/tree`;
    const { status, headers, body } = await owner.get(path);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.map(({ page_id, slug, title }: Record<string, string>) => [page_id, slug, title]),
      Array.from({ length: pages }, (_, i) => [
        `page_${pages - i}`,
        `s"\\${pages - i}`,
        `Größe "${pages - i}" \\ \n 😀`,
      ]),
    );
    assert.equal(Number(headers.get('content-length')), Buffer.byteLength(JSON.stringify(body)));
    assert.equal((await owner.get(path, { 'if-none-match': headers.get('etag') ?? '' })).status, 304);
  });
}
