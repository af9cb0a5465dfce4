import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACCEPTED } from './pairs/accepted.ts';
import { ACCESS_ACTS } from './pairs/access-acts.ts';
import { PEOPLE_ACTS } from './pairs/people-acts.ts';
import { openPairs, type PairResult, type Settle } from './pairs/run-pairs.ts';
import { setStage } from './pairs/stage.ts';
import { IMPORT_ACTS, mergeAll, PAGE_ACTS, SEARCH_ACTS, UPLOAD_ACTS } from './pairs/wiki-acts.ts';

/**
 * PAIRS=all: every pair of every group. PAIRS_ONLY: pairs whose "group: first | second" it matches. Otherwise the
 * listed pairs.
 */
const ONLY = process.env.PAIRS_ONLY ?? (process.env.PAIRS === 'all' ? '.' : undefined);

/** `acts` run in every combination. `pairs` lists further pairs that once gave a wrong result. */
const LISTED: Record<string, { acts: readonly string[]; pairs: readonly string[] }> = {
  pages: {
    acts: [
      'edit the text below',
      'edit the text at the top',
      'move into a leaf',
      'trash the top',
      'restore from the trash',
      'delete a source',
    ],
    pairs: [
      'edit the text of a leaf | trash the top',
      'edit a title | edit the text below',
      'edit the text below | edit a title',
      'delete a source | delete it, too',
      'ingest | delete a source',
      'ingest | trash a compiled page',
      'create where one was | restore from the trash',
      'trash what is linked | link to what is missing',
      'restore what is old | purge the trash',
      'purge the trash | restore what is old',
      'hold everything | purge the trash',
      'keep a gone page | keep it, too',
      'delete the wiki | rename the wiki',
      'edit a gone page | keep a gone page',
    ],
  },
  uploads: {
    acts: [],
    pairs: [
      'complete an upload | cancel what is whole',
      'cancel what is whole | complete an upload',
      'complete an upload | complete it, too',
      'retry an upload | retry it, too',
      'send bytes | send wrong bytes',
      'send wrong bytes | send wrong bytes',
      'cancel what is sent | send wrong bytes',
      'send a part | cancel what is sent',
      'cancel the upload | cancel the job',
      'cancel the upload | ingest',
    ],
  },
  access: {
    acts: ['restrict the top', 'restrict what is below', 'restrict it, too', 'restrict a leaf'],
    pairs: [
      'restrict the top | edit the text below',
      'edit the text below | restrict the top',
      'restrict what is below | trash what is below',
      'trash what is below | restrict what is below',
      'restrict a leaf | trash the top',
      'trash the top | restrict a leaf',
      'restrict another page | move below the top',
      'move below the top | restrict another page',
      'restrict the top | move below the top',
      'move below the top | restrict the top',
      'restrict the top | move to the root',
      'move to the root | restrict the top',
      'restrict the top | create below',
      'create below | restrict the top',
      'restrict a folder | ingest',
      'ingest | restrict a folder',
      'ingest | restrict a compiled page',
      'grant a page to a member | leave',
      'leave | grant a page to a member',
      'remove a member | grant a page to a member',
      'grant a page to a member | delete the account',
      'delete the account | grant a page to a member',
      'deactivate a member | grant a page to a member',
      'take the vault over | take it back',
      'take it back | take the vault over',
      'grant the vault to another | take the vault over',
      'take it back | leave',
      'leave | take it back',
      'lift the vault | lift it, too',
      'lift the vault | restrict what is inside',
      'restrict what is inside | lift it, too',
      'restrict what is inside | restrict the inside, too',
      'take it back | edit the vault',
      'take it back | move out of the vault',
      'take it back | trash the vault',
      'lift the vault | move into the vault',
    ],
  },
  imports: { acts: [], pairs: ['run the import | create a page', 'create a page | run the import'] },
  search: { acts: [], pairs: ['merge | edit the text below', 'edit a title | merge', 'purge the trash | merge'] },
  people: {
    acts: [],
    pairs: [
      'demote the owner | demote the other owner',
      'invite | invite the same',
      'invite | reactivate a member',
      'accept an invitation | accept it as one’s own',
      'revoke an invitation | accept an invitation',
      'revoke a key | revoke it, too',
      'refresh a session | refresh it, too',
      'refresh a session | delete the account',
      'hold everything | hold it, too',
      'remove the admin | create a key',
      'create a wiki | create it, too',
      'rename the workspace | rename it, too',
      'accept an invitation | delete the workspace',
      'delete the workspace | accept an invitation',
      'delete the workspace | hold everything',
    ],
  },
};

/** Tables at whose writes a job is held: a job has several transactions. */
const HELD_AT: Record<string, readonly (string | undefined)[]> = {
  ingest: [undefined, 'page_sources', 'uploads'],
  'run the import': ['import_pages', 'pages'],
};

/** Search results are compared after all pending postings are merged. */
const SETTLES: Record<string, Settle> = { search: mergeAll };

const stage = await setStage();
const pairs = await openPairs(stage);

for (const [group, acts] of Object.entries({
  pages: PAGE_ACTS,
  uploads: UPLOAD_ACTS,
  access: ACCESS_ACTS,
  imports: IMPORT_ACTS,
  search: SEARCH_ACTS,
  people: PEOPLE_ACTS,
})) {
  test(`concurrent writes end like the same writes in sequence, or one of them is refused: ${group}`, async (t) => {
    const results: PairResult[] = [];
    for (const [one, first] of Object.entries(acts)) {
      for (const [other, second] of Object.entries(acts)) {
        if (!isWanted(group, one, other)) continue;
        for (const at of HELD_AT[one] ?? [undefined])
          results.push(await pairs.run([one, first], [other, second], { at, settle: SETTLES[group] }));
      }
    }
    const accepted = results.filter(
      ({ fault, isWrong, pair }) => fault !== '' && !isWrong && ACCEPTED.some(([which]) => which.test(pair)),
    );
    const faults = results.filter((result) => result.fault !== '' && !accepted.includes(result));
    const counts = {
      pairs: results.length,
      held: results.filter(({ wasHeld }) => wasHeld).length,
      waited: results.filter(({ hasWaited }) => hasWaited).length,
      accepted: accepted.length,
    };
    t.diagnostic(JSON.stringify(counts));
    assert.deepEqual(
      faults.map(({ pair, fault }) => `${pair}: ${fault}`),
      [],
    );
    if (ONLY === undefined) assert.ok(counts.held > counts.pairs / 2, 'most of them are held before their commit');
    // Merging for the search waits for no other transaction.
    if (ONLY === undefined && group !== 'search')
      assert.ok(counts.waited > counts.pairs / 2, 'most of the others wait');
  });
}

test('an import into a wiki that has got a page in the meantime says so, and is not retried', async () => {
  await pairs.reset();
  const { ids, owner } = stage;
  for (const name of ['create a page', 'run the import']) await IMPORT_ACTS[name]?.(stage);
  const { body } = await owner.get(`/v1/wikis/${ids.secondWiki}/jobs/${ids.import}`);
  assert.deepEqual([body.status, body.error.split(':')[0]], ['failed', 'conflict']);
});

function isWanted(group: string, one: string, other: string): boolean {
  // An attempt of a job never runs twice.
  if (one === other && one in HELD_AT) return false;
  const pair = `${one} | ${other}`;
  if (ONLY !== undefined) return new RegExp(ONLY).test(`${group}: ${pair}`);
  const listed = LISTED[group];
  return !!listed && (listed.pairs.includes(pair) || (listed.acts.includes(one) && listed.acts.includes(other)));
}
