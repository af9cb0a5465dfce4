import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { JOBS } from '../../src/app.ts';
import { raw, sql } from '../../src/platform/db/sql.ts';
import { isRecordJob } from '../../src/platform/jobs/define-job.ts';
import { openOwner, type World } from '../world.ts';

/** Tables that say how work is done, and change by themselves; a file is tracked before it is stored, and postings are kept by random ids. */
const NOT_COMPARED = [
  'blobs',
  'search_blocks',
  'search_segments',
  'search_vocabulary',
  'search_words',
  'search_wikis',
  'workers',
  'schedules',
  'limit_counts',
  'workspace_usage',
  'wal_timelines',
];
/** Jobs that come by the clock. */
const SCHEDULED = JOBS.filter((job) => !isRecordJob(job) && job.every !== undefined).map(({ name }) => name);
/** Columns that record the use of a credential. */
const OF_USE = ['last_used_at', 'last_workspace_id', 'access_expires_at'];

/** What says the same in two ways, as it is compared. */
const SHOWN_AS: Record<string, string> = {
  // When a row was changed before was told to no one; citations are told where a text alone was written.
  audit_events: ` || jsonb_build_object('before', t.before - 'updated_at', 'after', t.after - '{updated_at,citations}'::text[])`,
  // A link to a page in the trash leads to none, and finds it when it is back.
  page_links: ` || jsonb_build_object('to_page_id', (
    select p.page_id from pages p where p.wiki_id = t.wiki_id and p.page_id = t.to_page_id and p.trashed_at is null))`,
  // Where the page was when its text was rendered; the links of a text are shown from where it is.
  revisions: ` - 'folder'`,
  search_documents: ` - 'document_no'`,
};

/** The rows of a database: kept once, put back before each write, and read as lines that can be compared. */
export interface DatabaseStates {
  reset(): Promise<void>;
  /** Each row as a line. What did not exist when the rows were kept (ids, times, hashes, …) is replaced by its kind. */
  read(): Promise<string[]>;
}

export async function keepDatabase({ db }: World, database: string): Promise<DatabaseStates> {
  const tables = (
    await db.query<{ name: string; columns: string }>(sql`
      select table_name as name, string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE' and is_generated = 'NEVER' group by 1 order by 1`)
  ).filter(({ name }) => !['workers', 'schedules', 'wal_timelines'].includes(name));
  const resets = tables.map(
    ({ name, columns }) =>
      `delete from public."${name}"; insert into public."${name}" (${columns}) overriding system value select ${columns} from kept."${name}";`,
  );
  // Triggers and foreign keys stand aside, which takes a superuser.
  const url = new URL(database);
  if (url.password === '') url.username = SUPERUSER;
  const superuser = openOwner(url.href);
  await superuser.transaction((_, run) =>
    run(`
      create schema kept;
      ${tables.map(({ name }) => `create table kept."${name}" as table public."${name}";`).join('\n')}
      create function kept.reset() returns void language sql set session_replication_role = replica as $$ ${resets.join('\n')} $$;`),
  );
  const compared = tables.map(({ name }) => name).filter((name) => !NOT_COMPARED.includes(name));
  const parts = compared.map(
    (
      name,
    ) => `select '${name} ' || (to_jsonb(t) - '{${OF_USE.join(',')}}'::text[]${SHOWN_AS[name] ?? ''})::text as line from public."${name}" t
        ${name === 'background_jobs' ? `where name <> all ('{${SCHEDULED.join(',')}}')` : ''}`,
  );
  const usage = `
    select 'usage ' || workspace_id || ' ' || jsonb_build_array(sum(bytes), sum(pages), sum(files), sum(wikis), sum(invitations), sum(keys), sum(jobs))
    from workspace_usage group by workspace_id`;
  const lines = async () =>
    (await db.query<{ line: string }>(sql`${raw([...parts, usage].join(' union all '))}`)).map(({ line }) => line);
  const known = new Set((await lines()).flatMap((line) => line.match(VOLATILE) ?? []));
  return {
    async reset() {
      // What the service does by the clock may be in the way.
      for (let attempt = 1; ; attempt += 1) {
        try {
          return void (await superuser.query(sql`select kept.reset()`));
        } catch (error) {
          if (attempt === 5 || (error as { code?: string }).code !== '40P01') throw error;
        }
      }
    },
    read: async () =>
      (await lines()).map((line) => line.replace(VOLATILE, (text) => (known.has(text) ? text : kindOf(text)))).sort(),
  };
}

/** Ids, uuids, times, hashes, and the version of a tree. */
const VOLATILE =
  /\b[a-z]+_[0-9a-z]{26}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?|\\\\x[0-9a-f]{40,}|\b\d+-\d{16}\b|"obfuscated_value": "[^"]*"/g;

function kindOf(text: string): string {
  const [prefix] = text.match(/^[a-z]+(?=_)/) ?? [];
  if (prefix !== undefined) return `<${prefix}>`;
  if (/^\d{4}-\d\d-\d\d[T ]/.test(text)) return '<time>';
  return '<value>';
}

/** The lines that are only in one of two states; a line may be there several times. */
export function difference(one: readonly string[], other: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of one) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of other) counts.set(line, (counts.get(line) ?? 0) - 1);
  return [...counts].flatMap(([line, count]) => (count === 0 ? [] : [`${count > 0 ? '+' : '-'} ${line}`]));
}
