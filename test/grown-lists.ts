import type { OwnerDb } from '../src/platform/db/db.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import type { Ids } from './requests.ts';

/**
 * The row of a table (`t`) to copy, and the columns in which copy number `n` differs; `n6` is the number with six
 * digits.
 */
interface Growth {
  table: string;
  where: string;
  differ: Record<string, string>;
  /** Minimum number of list records per row; 1 by default. */
  share?: number;
}

const HASH = `encode(sha256(convert_to(t.*::text || n, 'UTF8')), 'hex')`;
const SECRET = `'\\x' || ${HASH}`;
const IN_WIKI = 't.wiki_id = $wiki_id';

/** Rows to copy for each list. Referenced tables come before the tables that refer to them. */
const GROWTHS: Growth[] = [
  {
    table: 'pages',
    where: `${IN_WIKI} and t.parent_page_id = $page_id and t.trashed_at is null`,
    // Several copies share a position, so that the second sort key matters.
    differ: {
      page_id: `'page_$word' || n6`,
      slug: `'more-' || n`,
      path: `t.parent_path || '/more-' || n`,
      position: '100 + n / 7',
    },
  },
  {
    table: 'pages',
    where: `${IN_WIKI} and t.gone_file is not null`,
    differ: {
      page_id: `'page_gone$word' || n6`,
      slug: `'gone-$word-' || n`,
      path: `t.parent_path || '/gone-$word-' || n`,
    },
  },
  { table: 'page_links', where: `${IN_WIKI} and t.to_page_id is null`, differ: { to_path: `'missing-$word-' || n6` } },
  {
    table: 'page_links',
    where: `${IN_WIKI} and t.to_page_id = $page_id`,
    differ: { from_page_id: `'page_$word' || n6` },
  },
  {
    table: 'pages',
    where: `${IN_WIKI} and t.trashed_with = t.page_id`,
    differ: {
      page_id: `'page_trash' || n6`,
      trashed_with: `'page_trash' || n6`,
      slug: `'trash-' || n`,
      path: `coalesce(t.parent_path || '/', '') || 'trash-' || n`,
    },
  },
  { table: 'page_tags', where: IN_WIKI, differ: { tag_key: `'tag-$word-' || n6` } },
  { table: 'revisions', where: `${IN_WIKI} and t.page_id = $page_id`, differ: { revision: '1000 + n' } },
  {
    table: 'attachments',
    where: `${IN_WIKI} and t.page_id = $page_id`,
    differ: { attachment_id: `'attachment_$word' || n6`, sha256: HASH },
  },
  { table: 'sources', where: IN_WIKI, differ: { source_id: `'source_$word' || n6`, sha256: HASH } },
  {
    table: 'source_texts',
    // Only texts of sources that the page cites.
    where: `${IN_WIKI} and t.source_id in (select source_id from page_sources where page_id = $page_id)`,
    differ: { source_id: `'source_$word' || n6` },
  },
  {
    table: 'page_sources',
    where: `${IN_WIKI} and t.page_id = $page_id`,
    differ: { source_id: `'source_$word' || n6` },
    share: 6,
  },
  { table: 'uploads', where: IN_WIKI, differ: { upload_id: `'upload_$word' || n6` } },
  {
    table: 'upload_files',
    where: `${IN_WIKI} and t.upload_id = $upload_id`,
    differ: { file_no: '1000 + n', file_id: `'file_$word' || n6` },
  },
  { table: 'jobs', where: `${IN_WIKI} and t.upload_id = $upload_id`, differ: { job_id: `'job_$word' || n6` } },
  { table: 'audit_events', where: 't.workspace_id = $workspace_id', differ: { event_id: `'evt_$word' || n6` } },
  { table: 'request_log', where: 't.workspace_id = $workspace_id', differ: { call_id: `'req_$word' || n6` } },
  {
    table: 'invitations',
    where: 't.workspace_id = $workspace_id',
    differ: { invitation_id: `'inv_$word' || n6`, email: `'$word' || n || '@example.com'`, secret_hash: SECRET },
  },
  {
    table: 'api_keys',
    where: 't.workspace_id = $workspace_id',
    differ: { key_id: `'key_$word' || n6`, secret_hash: SECRET },
  },
  {
    table: 'api_keys',
    where: 't.workspace_id is null and t.user_id = $user_id',
    differ: { key_id: `'key_own_$word' || n6`, secret_hash: SECRET },
  },
  {
    table: 'sessions',
    where: 't.user_id = $user_id',
    differ: { session_id: `'session_$word' || n6`, access_hash: SECRET },
  },
  {
    table: 'wikis',
    where: `t.workspace_id = $workspace_id`,
    differ: { wiki_id: `'wiki_$word' || n6`, slug: `'$word-' || n6` },
  },
  {
    table: 'wikis',
    where: `t.workspace_id is null and t.deleted_from = $workspace_id`,
    differ: { wiki_id: `'wiki_deleted_$word' || n6` },
  },
];

/**
 * Makes every list of a tenant long by copying one of its rows; an empty list stays empty. The ids of the copies
 * contain `word`; copies with "less" sort before copies with "more".
 */
export async function growLists(db: OwnerDb, ids: Ids, word: string, records: number): Promise<void> {
  const fill = (text: string) =>
    text.replace(/\$([a-z_]+)/g, (_, name: string) => (name === 'word' ? word : `'${ids[name]}'`));
  for (const { table, where, differ, share = 1 } of GROWTHS) {
    const [written] = await db.query<{ columns: string }>(sql`
      select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
      where table_schema = current_schema() and table_name = ${table} and is_generated = 'NEVER'`);
    const columns = raw(written?.columns ?? '');
    const changes = Object.entries(differ).map(([column, value]) => `'${column}', ${fill(value)}`);
    await db.query(sql`
      insert into ${raw(table)} (${columns})
      select ${columns} from (
        select copy.* from (select * from ${raw(table)} t where ${raw(fill(where))} limit 1) t,
          generate_series(1, ${Math.ceil(records / share)}::int) n, lpad(n::text, 6, '0') n6,
          jsonb_populate_record(null::${raw(table)}, to_jsonb(t) || jsonb_build_object(${raw(changes.join(', '))})) copy
      ) copies`);
    // Statistics as in a service with many tenants: a large tenant gets the plan that suits the average one.
    const owner = /t\.(wiki_id|workspace_id|user_id|deleted_from) =/.exec(where)?.[1] ?? '';
    await db.query(sql`alter table ${raw(table)} alter column ${raw(owner)} set (n_distinct = 100)`);
    // Autovacuum would do this within a minute, but a fast test run is shorter. Until then, index-only scans must visit
    // the heap.
    await db.query(sql`vacuum analyze ${raw(table)}`);
  }
}
