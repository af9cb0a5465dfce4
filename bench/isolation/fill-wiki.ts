import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { Client } from 'pg';

/** Pages of a folder; all folders are below the page `page_root`. */
const FOLDER = 500;

/**
 * Inserts `pages` pages of a few words into a wiki, without the API: a root, folders below it, and pages in the
 * folders. The search index does not contain them.
 */
export async function fillWiki(dataDir: string, wiki_id: string, pages: number): Promise<void> {
  const connection = runningPostgres(dataDir);
  if (!connection) throw new Error('the service runs no PostgreSQL of its own: unset DATABASE_URL');
  const database = new Client(connection);
  await database.connect();
  try {
    await database.query('begin');
    await database.query(
      `insert into pages (wiki_id, page_id, path, slug, title, parent_page_id, parent_path, position, origin, revision,
        word_count, created_by, updated_by)
      select $1, id, coalesce(p || '/', '') || slug, slug, 'Page ' || n, parent, p, n, 'authored', 1, 3, 'user_bench', 'user_bench'
      from generate_series(0, $2 - 1) n
      cross join lateral (select case when n = 0 then 'page_root' else 'page_many' || n end as id,
        case when n = 0 then 'root' else 'p' || n end as slug,
        case when n = 0 then null when n % $3 = 1 then 'page_root' else 'page_many' || n - (n - 1) % $3 end as parent,
        case when n = 0 then null when n % $3 = 1 then 'root' else 'root/p' || n - (n - 1) % $3 end as p) a`,
      [wiki_id, pages, FOLDER],
    );
    await database.query(
      `insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
      select wiki_id, page_id, 1, title, 'Some few words', '<p>Some few words</p>', '[]', created_by
      from pages where wiki_id = $1`,
      [wiki_id],
    );
    await database.query('commit');
    await database.query('analyze pages, revisions');
  } finally {
    await database.end();
  }
}
