import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { JOBS } from '../../src/app.ts';
import { raw, sql } from '../../src/platform/db/sql.ts';
import { isRecordJob } from '../../src/platform/jobs/define-job.ts';
import { openOwner, type World } from '../world.ts';

/**
 * Tables that record the progress of work and change on their own. Also files, which are tracked before they are
 * stored, and postings, whose ids are random.
 */
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
const SCHEDULED = JOBS.filter((job) => !isRecordJob(job) && job.every !== undefined).map(({ name }) => name);
/** Columns that record the use of a credential. */
const OF_USE = ['last_used_at', 'last_workspace_id', 'access_expires_at'];

/** SQL that normalizes rows with equivalent values before they are compared. */
const SHOWN_AS: Record<string, string> = {
  // No client saw the time of the previous change, and citations are recorded only for an edit of only the text.
  audit_events: ` || jsonb_build_object('before', t.before - 'updated_at', 'after', t.after - '{updated_at,citations}'::text[])`,
  // A link to a page in the trash counts as broken; it resolves again when the page is restored.
  page_links: ` || jsonb_build_object('to_page_id', (
    select p.page_id from pages p where p.wiki_id = t.wiki_id and p.page_id = t.to_page_id and p.trashed_at is null))`,
  // The path of the page at rendering. Links are shown relative to its current path.
  revisions: ` - 'folder'`,
  search_documents: ` - 'document_no'`,
};

/** Saves the rows of a database, restores them before each write, and reads them as comparable lines. */
export interface DatabaseStates {
  reset(): Promise<void>;
  /**
   * Returns each row as a line. Ids, times, hashes and the like that did not exist when the rows were saved are
   * replaced by their kind.
   */
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
  // Restores bypass triggers and foreign keys, which takes a superuser.
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
      // Scheduled work of the service may cause a deadlock.
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

/** Ids, UUIDs, times, hashes, and the version of a tree. */
const VOLATILE =
  /\b[a-z]+_[0-9a-z]{26}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?|\\\\x[0-9a-f]{40,}|\b\d+-\d{16}\b|"obfuscated_value": "[^"]*"/g;

function kindOf(text: string): string {
  const [prefix] = text.match(/^[a-z]+(?=_)/) ?? [];
  if (prefix !== undefined) return `<${prefix}>`;
  if (/^\d{4}-\d\d-\d\d[T ]/.test(text)) return '<time>';
  return '<value>';
}

/** Returns the lines in which two states differ. A line may occur several times. */
export function difference(one: readonly string[], other: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of one) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of other) counts.set(line, (counts.get(line) ?? 0) - 1);
  return [...counts].flatMap(([line, count]) => (count === 0 ? [] : [`${count > 0 ? '+' : '-'} ${line}`]));
}
