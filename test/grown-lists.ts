import type { OwnerDb } from '../src/platform/db/db.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import type { Ids } from './requests.ts';

/** Which row of a table (`t`) gets copies, and how copy number `n` differs from it; `n6` is the number with six digits. */
interface Growth {
  table: string;
  where: string;
  differ: Record<string, string>;
  /** How many records of the list one row is, at least; one unless stated. */
  share?: number;
}

const HASH = `encode(sha256(convert_to(t.*::text || n, 'UTF8')), 'hex')`;
const SECRET = `'\\x' || ${HASH}`;
const IN_WIKI = 't.wiki_id = $wiki_id';

/** What makes each list long; what others refer to comes first. */
const GROWTHS: Growth[] = [
  {
    table: 'pages',
    where: `${IN_WIKI} and t.parent_page_id = $page_id and t.trashed_at is null`,
    // Several at one position, so that the second key of the order counts.
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
    // What the page shows.
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
 * Makes every list of a tenant long by copies of a row that is in it; a list that has none stays empty. `word` is in the ids
 * of the copies: before "more" stands "less".
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
    // As in a service with many tenants: a plan that suits the average of them is what a large one gets too.
    const owner = /t\.(wiki_id|workspace_id|user_id|deleted_from) =/.exec(where)?.[1] ?? '';
    await db.query(sql`alter table ${raw(table)} alter column ${raw(owner)} set (n_distinct = 100)`);
    // As autovacuum does within a minute, which a fast run of the tests does not last: until then an index alone is no answer.
    await db.query(sql`vacuum analyze ${raw(table)}`);
  }
}
