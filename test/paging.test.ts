import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeCursor, encodeCursor } from '../src/platform/core/paging.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { extent, turnsOf } from './extent.ts';
import { nextOf } from './list-all.ts';
import { cursorName, fillLists, LISTS, NEEDED, QUERIES } from './lists.ts';
import type { RawAnswer } from './raw-http.ts';
import { type Ids, nameOf, originOf, pathOf, propertiesOf } from './requests.ts';
import { openTenants } from './tenants.ts';

const tenants = await openTenants();
const { owner } = tenants;
const ids = await fillLists(tenants);
const tokens = new Map<Endpoint, string>();
for (const endpoint of LISTS) tokens.set(endpoint, await tenants.tokenFor(endpoint, owner));

function get(endpoint: Endpoint, path: string): Promise<RawAnswer> {
  const headers = { authorization: `Bearer ${tokens.get(endpoint)}`, ...originOf(endpoint) };
  return tenants.send({ method: 'GET', path, headers }, endpoint);
}

/**
 * The list of branches around a page. It begins with the page's surroundings, so only pages directly below the page
 * count.
 */
const OF_PAGE = 'GET /v1/wikis/:wiki_id/branches';

function pathWith(endpoint: Endpoint, query: Record<string, string | number>, of: Ids = ids): string {
  const own = nameOf(endpoint) === OF_PAGE ? { page_id: of.page_id } : {};
  const search = new URLSearchParams({ ...NEEDED[nameOf(endpoint)], ...own, ...query } as Record<string, string>);
  return `${pathOf(endpoint, of)}?${search}`;
}

/** Returns the records of an answer without their last use, which may change between two requests. */
function recordsOf(endpoint: Endpoint, { status, body, text }: RawAnswer): object[] {
  assert.equal(status, 200, text);
  const counted = nameOf(endpoint) === OF_PAGE ? body.filter((it: any) => it.parent_page_id === ids.page_id) : body;
  return counted.map(({ last_used_at: _, ...record }: Record<string, unknown>) => record);
}

const linkOf = (answer: RawAnswer) => nextOf(answer.headers.link as string | undefined);

const cursors = new Map<Endpoint, Promise<string>>();

/** Returns the cursor after the first record of the list. */
function cursorOf(endpoint: Endpoint): Promise<string> {
  const cursor = cursors.get(endpoint) ?? findCursor(endpoint);
  cursors.set(endpoint, cursor);
  return cursor;
}

async function findCursor(endpoint: Endpoint): Promise<string> {
  const next = linkOf(await get(endpoint, pathWith(endpoint, { limit: 1 })));
  const cursor = new URL(next ?? '', 'http://x').searchParams.get(cursorName(endpoint));
  assert.ok(cursor, `${nameOf(endpoint)} leads on by cursor: ${next}`);
  return cursor;
}

/** Returns the list name encoded in a cursor. */
function listOf(cursor: string): string {
  return JSON.parse(Buffer.from(cursor, 'base64url').toString())[0];
}

test('every list can be continued by cursor', () => {
  assert.ok(LISTS.length > 15);
  for (const endpoint of LISTS) {
    const hasCursor = endpoint.paging !== undefined && cursorName(endpoint) in propertiesOf(endpoint.query);
    assert.ok(hasCursor, `${nameOf(endpoint)}: give it \`paging\` and PAGING`);
  }
});

/** One function decodes the cursors of all lists. */
const someTexts = turnsOf(12);
const someIds = turnsOf(12);

for (const endpoint of LISTS) {
  for (const query of ['', ...(QUERIES[nameOf(endpoint)] ?? [])]) {
    const name = `${nameOf(endpoint)}${query && `?${query}`}`;
    test(`${name} has the same records in the same order by cursor as in one answer`, async () => {
      const filters = Object.fromEntries(new URLSearchParams(query));
      const whole = recordsOf(endpoint, await get(endpoint, pathWith(endpoint, { ...filters, limit: 500 })));
      assert.ok(whole.length >= 5, `fillLists() gives it ${whole.length} records`);
      for (const limit of extent([1, 2], [2])) {
        const walked: object[] = [];
        let path: string | undefined = pathWith(endpoint, { ...filters, limit, offset: 0 });
        while (path !== undefined) {
          const answer = await get(endpoint, path);
          const records = recordsOf(endpoint, answer);
          assert.ok(records.length <= limit);
          walked.push(...records);
          path = linkOf(answer);
          if (path === undefined) continue;
          const { searchParams } = new URL(path, 'http://x');
          assert.deepEqual([searchParams.get('limit'), searchParams.has('offset')], [String(limit), false]);
          for (const [key, value] of Object.entries(filters)) assert.equal(searchParams.get(key), value);
        }
        assert.deepEqual(walked, whole);
      }
    });
  }

  test(`${nameOf(endpoint)} links to the next offset if the first request had an offset`, async () => {
    const whole = recordsOf(endpoint, await get(endpoint, pathWith(endpoint, { limit: 500 })));
    const answer = await get(endpoint, pathWith(endpoint, { limit: 2, offset: 1 }));
    assert.deepEqual(recordsOf(endpoint, answer), whole.slice(1, 3));
    const { searchParams } = new URL(linkOf(answer) ?? '', 'http://x');
    assert.deepEqual([searchParams.get('offset'), searchParams.has(cursorName(endpoint))], ['3', false]);
  });

  test(`${nameOf(endpoint)} takes a cursor or an offset, not both`, async () => {
    const parameter = cursorName(endpoint);
    const cursor = await cursorOf(endpoint);
    const both = await get(endpoint, pathWith(endpoint, { [parameter]: cursor, offset: 1 }));
    assert.deepEqual([both.status, both.body.detail[0].loc], [422, ['query', parameter]]);
    assert.match(both.body.message, /omit either offset/);
    assert.equal((await get(endpoint, pathWith(endpoint, { [parameter]: cursor, offset: 0 }))).status, 200);
  });

  test(`${nameOf(endpoint)} refuses anything but its own cursors, with an explanation`, async () => {
    const parameter = cursorName(endpoint);
    const cursor = await cursorOf(endpoint);
    const list = listOf(cursor);
    const keys = decodeCursor(list, cursor) ?? [];
    const others = await Promise.all(LISTS.filter((other) => other !== endpoint).map(cursorOf));
    const odd = [
      null,
      true,
      {},
      [],
      [[]],
      1.5,
      1e300,
      2 ** 31,
      -(2 ** 31),
      '',
      'x\0y',
      '\ud800',
      [keys[0]],
      { length: 1 },
    ];
    const types = Object.values(endpoint.paging?.keys ?? {});
    const altered = keys.flatMap((key, i) =>
      odd
        .filter((value) => types[i] !== 'number' || typeof value !== 'number')
        .filter(
          (value) =>
            typeof value !== typeof key ||
            value === 1.5 ||
            Math.abs(Number(value)) >= 2 ** 31 ||
            /\0|\ud800/.test(String(value)),
        )
        .map((value) => encodeCursor(list, keys.with(i, value))),
    );
    const texts = [
      ...others,
      ...altered,
      encodeCursor(list, []),
      encodeCursor(list, keys.slice(1)),
      encodeCursor(list, [...keys, 'more']),
      encodeCursor(list, [keys]),
      encodeCursor('', keys),
      // Valid contents in another encoding.
      Buffer.from(JSON.stringify([list, ...keys], null, 1)).toString('base64url'),
      Buffer.from(`${JSON.stringify([list, ...keys])} `).toString('base64url'),
      Buffer.concat([
        Buffer.from(JSON.stringify([list, ...keys]).slice(0, -2)),
        Buffer.from([0xff, 0x22, 0x5d]),
      ]).toString('base64url'),
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      Buffer.from(cursor, 'base64url').toString(),
      `WyJ${'A'.repeat(490)}`,
      `WyJ${'A'.repeat(10_000)}`,
      'WyJ',
      '',
      'null',
      "WyJ' or true --",
    ];
    for (const text of someTexts(texts)) {
      const answer = await get(endpoint, pathWith(endpoint, { [parameter]: text }));
      assert.ok([400, 422].includes(answer.status), `${text}: ${answer.status} ${answer.text}`);
      assert.equal(answer.body.error, answer.status === 400 ? 'invalid_query' : 'validation_error');
      assert.match(answer.body.message, /\w+ \w+/);
    }
    const twice = `${pathWith(endpoint, { [parameter]: cursor })}&${parameter}=${cursor}`;
    assert.equal((await get(endpoint, twice)).status, 422);
    assert.equal((await get(endpoint, `${pathWith(endpoint, {})}&${parameter}=WyJ%00`)).status, 400);
  });

  test(`${nameOf(endpoint)} answers a cursor of another tenant with its own records only`, async () => {
    const parameter = cursorName(endpoint);
    const cursor = await cursorOf(endpoint);
    const list = listOf(cursor);
    const keys = decodeCursor(list, cursor) ?? [];
    const types = Object.values(endpoint.paging?.keys ?? {});
    const whole = recordsOf(endpoint, await get(endpoint, pathWith(endpoint, { limit: 500 }))).map((it) =>
      JSON.stringify(it),
    );
    for (const foreign of someIds(Object.values(tenants.b))) {
      const text = encodeCursor(
        list,
        keys.map((key, i) => (types[i] === 'text' ? foreign : key)),
      );
      const answer = await get(endpoint, pathWith(endpoint, { [parameter]: text, limit: 500 }));
      const own = recordsOf(endpoint, answer).map((it) => JSON.stringify(it));
      assert.deepEqual(
        own.filter((record) => !whole.includes(record)),
        [],
      );
    }
    if (!endpoint.path.includes(':')) return;
    // Callers without access learn nothing about the validity of a cursor.
    for (const text of [cursor, encodeCursor('x', keys)]) {
      const answer = await get(endpoint, pathWith(endpoint, { [parameter]: text }, { ...tenants.b }));
      assert.equal(answer.status, 403, answer.text);
    }
  });
}

/**
 * Lists whose records are deleted while they are read: the request that deletes, and the field with the record's id.
 */
const DELETED: Record<string, { id: string; remove: (id: string) => [method: string, path: string] }> = {
  'GET /v1/wikis/:wiki_id/pages': { id: 'page_id', remove: (id) => ['DELETE', `/v1/wikis/${ids.wiki_id}/pages/${id}`] },
  'GET /v1/wikis/:wiki_id/trash': {
    id: 'page_id',
    remove: (id) => ['POST', `/v1/wikis/${ids.wiki_id}/pages/${id}/restore`],
  },
  'GET /v1/wikis/:wiki_id/sources': {
    id: 'source_id',
    remove: (id) => ['DELETE', `/v1/wikis/${ids.wiki_id}/sources/${id}`],
  },
  'GET /v1/workspaces/:workspace_id/api-keys': {
    id: 'key_id',
    remove: (id) => ['DELETE', `/v1/workspaces/${ids.workspace_id}/api-keys/${id}`],
  },
};

for (const [name, { id, remove }] of Object.entries(DELETED)) {
  test(`${name} skips no record when earlier records are deleted between two requests`, async () => {
    const endpoint = LISTS.find((candidate) => nameOf(candidate) === name);
    assert.ok(endpoint);
    const idsOf = (answer: RawAnswer) =>
      recordsOf(endpoint, answer).map((it) => (it as Record<string, string>)[id] ?? '');
    const first = await get(endpoint, pathWith(endpoint, { limit: 2 }));
    for (const gone of idsOf(first)) {
      const answer = await tenants.world.as(owner.token).send(...remove(gone));
      // The page may have been deleted with its parent.
      assert.ok(answer.status < 300 || answer.status === 404, JSON.stringify(answer.body));
    }
    const rest = idsOf(await get(endpoint, String(linkOf(first)).replace('limit=2', 'limit=500')));
    const whole = idsOf(await get(endpoint, pathWith(endpoint, { limit: 500 })));
    assert.ok(whole.length >= 2 && !whole.includes(idsOf(first)[0] ?? ''));
    assert.deepEqual(rest, whole);
  });
}
