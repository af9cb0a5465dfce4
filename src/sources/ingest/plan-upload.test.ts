import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../../../test/world.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Query } from '../../platform/db/db.ts';
import { type Sql, sql, toStatement } from '../../platform/db/sql.ts';
import { planUpload } from './plan-upload.ts';

// ROLE=web runs no worker, so uploads stay unprocessed.
const world = await openWorld({ ROLE: 'web' });
const owner = await world.owner();
const { wiki_id } = owner;
const pages = `/v1/wikis/${wiki_id}/pages`;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

/**
 * Plans an upload of files with these names. Returns their paths, and the numbers of page rows read and of statements.
 */
async function planned(...names: string[]) {
  const form = new FormData();
  for (const name of names) form.append('files', new File([`# ${name}\n`], name));
  const { body } = await owner.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
  const job = {
    wiki_id,
    upload_id: body.upload_id,
    job_id: '',
    kind: 'ingest',
    attempt: 1,
    acts_for: null,
    failures: 0,
  };
  let pagesRead = 0;
  let statements = 0;
  const paths = await world.db.transaction(async (query) => {
    const counting = (async (statement: Sql) => {
      if (toStatement(statement).text.trim().startsWith('select')) {
        const [row] = await query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(sql`explain (analyze, format json) ${statement}`);
        pagesRead += row ? rowsOf(row['QUERY PLAN'][0].Plan) : 0;
        statements += 1;
      }
      return query(statement);
    }) as Query;
    return planUpload(counting, job);
  });
  return { paths: names.map((name) => paths.get(name)), pagesRead, statements };
}

function rowsOf(plan: Plan): number {
  const read = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
  const own = plan['Relation Name'] === 'pages' ? read : 0;
  return (plan.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), own);
}

/** Inserts root pages with these paths, as if users had written them. */
async function addPages(count: number, pathOf: string): Promise<void> {
  const { body } = await owner.post(pages, { title: 'Model', markdown: '' });
  await world.db.query(sql`
    insert into pages (wiki_id, page_id, path, slug, title, origin, revision, position, word_count, created_by,
      updated_by)
    select wiki_id, ${newId('page').slice(0, -6)} || lpad(n::text, 6, '0'), ${pathOf} || n, ${pathOf} || n, title, origin, 1, n, 0,
      created_by, updated_by
    from pages p, generate_series(2, ${count + 1}::int) n where p.page_id = ${body.page_id}`);
  await owner.send('DELETE', `${pages}/${body.page_id}`);
}

test('planning an upload reads as many pages in a large wiki as in a small one', async () => {
  await owner.post(pages, { title: 'Taken', markdown: '' });
  await owner.post(pages, { title: 'Guide', markdown: '' });
  const files = (name: string) => ['taken.md', `guide/${name}.md`, `${name}/index.md`, `${name}/setup.md`];
  const small = await planned(...files('one'));
  await addPages(5_000, 'other-');
  await world.db.query(sql`analyze pages`);
  const large = await planned(...files('two'));
  assert.deepEqual(small.paths, ['taken-2', 'guide/one', 'one', 'one/setup']);
  assert.deepEqual(large.paths, ['taken-2', 'guide/two', 'two', 'two/setup']);
  assert.equal(large.pagesRead, small.pagesRead);
  assert.equal(large.statements, small.statements);
});

test('a name that many pages have gets the next free number with few statements', async () => {
  await owner.post(pages, { title: 'Note', slug: 'note', markdown: '' });
  await addPages(400, 'note-');
  const { paths, statements } = await planned('note.md', 'NOTE.txt', 'x/note.md');
  assert.deepEqual(paths, ['note-402', 'note-403', 'x/note']);
  assert.ok(statements < 20, `${statements} statements`);
});

test('new pages are in chapter order with folders among files, whatever the order of the upload', async () => {
  await planned('set/10 End.md', 'set/9/b.md', 'set/9/a.md', 'set/README.md', 'set/1 Start.md');
  const rows = await world.db.query<{ filename: string }>(sql`
    select filename from upload_files
    where wiki_id = ${wiki_id} and upload_id = (select max(upload_id) from uploads where wiki_id = ${wiki_id})
    order by position`);
  assert.deepEqual(
    rows.map(({ filename }) => filename),
    ['set/README.md', 'set/1 Start.md', 'set/9', 'set/9/a.md', 'set/9/b.md', 'set/10 End.md'],
  );
});
