import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_ROLE } from '@ibid/postgres-server/roles.ts';
import pg from 'pg';
import { type OwnerDb, openDb } from '../src/platform/db/db.ts';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { until } from './until.ts';

/** Application name of the migrating session, to find the requests that wait for it. */
const MIGRATOR = 'ibid migrator';

const WIKI = 'wiki_a';
const WORKSPACE = 'ws_a';
const PAGES = 100_000;

/** Opens the connection that migrates: a single one, as at startup. */
export function openMigrator(database: string, observe: (text: string) => void = () => undefined): OwnerDb {
  const connection = { connectionString: database, application_name: MIGRATOR };
  const db = openDb({ connection, connections: 1, observe });
  cleanUp(() => db.close());
  return db;
}

/** Fills the tables of the baseline with one wiki: 100,000 pages, their texts and links, and jobs. */
export async function fillTables(db: OwnerDb): Promise<void> {
  await db.session(async (_, runScript) => {
    await runScript(`
      begin;
      insert into users (user_id, email, display_name) values ('user_a', 'a@example.com', 'A');
      insert into workspaces (workspace_id, name, slug, created_by) values ('${WORKSPACE}', 'A', 'a', 'user_a');
      insert into memberships (membership_id, workspace_id, user_id, role) values ('mem_a', '${WORKSPACE}', 'user_a', 'owner');
      insert into wikis (wiki_id, workspace_id, slug, title, created_by) values ('${WIKI}', '${WORKSPACE}', 'a', 'A', 'user_a');
      insert into pages (wiki_id, page_id, path, slug, title, origin, revision, word_count, created_by, updated_by)
        select '${WIKI}', 'page_' || n, 'page-' || n, 'page-' || n, 'Page ' || n, 'authored', 1, 4, 'user_a', 'user_a'
        from generate_series(1, ${PAGES}) n;
      insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
        select wiki_id, page_id, 1, title, 'The words of it.', '<p>The words of it.</p>', '[]', 'user_a' from pages;
      insert into page_texts (wiki_id, page_id, text) select wiki_id, page_id, 'The words of it.' from pages;
      insert into page_links (wiki_id, from_page_id, to_page_id, to_path) select wiki_id, page_id, 'page_1', 'page-1' from pages;
      insert into jobs (wiki_id, job_id, kind, status, failures)
        select '${WIKI}', 'job_' || n, 'ingest', 'completed', 0
        from generate_series(1, ${PAGES / 4}) n;
      insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
        select 'inv_' || n, '${WORKSPACE}', n || '@example.com', 'member', sha256(n::text::bytea), 'user_a', now() + interval '1 day'
        from generate_series(1, ${PAGES / 20}) n;
      commit;
      analyze`);
  });
}

/** Statements of the most frequent requests and jobs. $1 is a page of the wiki. */
const REQUESTS = [
  `select p.title, r.html, t.text from pages p join revisions r using (wiki_id, page_id, revision)
    join page_texts t using (wiki_id, page_id) where p.wiki_id = '${WIKI}' and p.page_id = $1`,
  `with page as (
      update pages set revision = revision + 1, updated_at = now() where wiki_id = '${WIKI}' and page_id = $1 returning *
    ), revised as (
      insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
      select wiki_id, page_id, revision, title, '', '', '[]', 'user_a' from page
    )
    update page_texts set text = 'Others.' where wiki_id = '${WIKI}' and page_id = $1`,
  `insert into page_links (wiki_id, from_page_id, to_path) values ('${WIKI}', $1, gen_random_uuid()::text)`,
  `update jobs set progress = 50, failures = greatest(failures, 0) where wiki_id = '${WIKI}' and job_id = replace($1, 'page', 'job')`,
  `select is_invited($1 || '@example.com'), widget_origin_is_allowed('https://example.com', $1)`,
  `update invitations set state = 'revoked' where invitation_id = replace($1, 'page', 'inv')`,
];

interface Load {
  answered(): number;
  /**
   * Stops the load. Returns the longest time in milliseconds that a request waited for a lock of the migrator. Throws
   * the first error of a request.
   */
  stop(): Promise<number>;
}

/**
 * Sends requests on four connections with the rights of the service, in sequence on each, and observes which requests
 * wait.
 */
function startLoad(database: string, observer: OwnerDb): Load {
  const settings = `-c role=${SERVICE_ROLE} -c ibid.service=on -c ibid.wiki=${WIKI} -c ibid.workspaces=${WORKSPACE}`;
  const pool = new pg.Pool({ connectionString: database, options: settings, max: 4 });
  let stopped = false;
  let answered = 0;
  let longest = 0;
  async function request(first: number): Promise<void> {
    for (let n = first; !stopped; n += 1) {
      const page = `page_${1 + ((n * 7919) % PAGES)}`;
      await pool.query(REQUESTS[n % REQUESTS.length] ?? '', [page]);
      answered += 1;
      // A steady rate that leaves capacity for the migration.
      await pause(5);
    }
  }
  async function look(): Promise<void> {
    while (!stopped) {
      const [row] = await observer.query<{ milliseconds: number | null }>(sql`
        select max(extract(epoch from clock_timestamp() - l.waitstart) * 1000) as milliseconds
        from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where not l.granted and a.datname = current_database() and a.application_name <> ${MIGRATOR}
          and exists (
            select from pg_stat_activity m
            where m.application_name = ${MIGRATOR} and m.datname = a.datname and m.pid = any (pg_blocking_pids(a.pid)))`);
      longest = Math.max(longest, row?.milliseconds ?? 0);
      await pause(20);
    }
  }
  const running = Promise.all([look(), ...[0, 1, 2, 3].map((n) => request(n * 1000))]);
  // stop() rethrows it.
  running.catch(() => undefined);
  return {
    answered: () => answered,
    async stop() {
      stopped = true;
      try {
        await running;
      } finally {
        await pool.end();
      }
      return longest;
    },
  };
}

/**
 * Runs `work` under load, which starts before it and stops after it. Returns the longest wait for the migrator in
 * milliseconds.
 */
export async function underLoad(database: string, observer: OwnerDb, work: (load: Load) => Promise<void>) {
  const load = startLoad(database, observer);
  const answers = async () => {
    const enough = load.answered() + 30;
    await until('requests are answered', load.answered, (answered) => answered >= enough);
  };
  try {
    await answers();
    await work(load);
    await answers();
  } catch (error) {
    // If a request failed, throw that error instead.
    await load.stop();
    throw error;
  }
  return load.stop();
}
