import type { Query, ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import { type Sql, sql } from '../db/sql.ts';

/** Rows that are deleted at once; each takes others with it. */
const BATCH = 1_000;

/** Takes away what deleted wikis held, piece by piece, and last the wikis. Any number may do so at once. */
export async function removeDeletedWikis(db: ServiceDb): Promise<void> {
  const wikis = await db.in(SERVICE).query<{ wiki_id: string }>(sql`select deleted_wikis() as wiki_id`);
  for (const { wiki_id } of wikis) {
    const { query } = db.in({ who: 'job', path: { wiki_id } });
    // A page goes before the one above it, whose path is the beginning of its own.
    await repeat(
      query,
      sql`
      delete from pages where wiki_id = ${wiki_id} and page_id in (
        select page_id from pages where wiki_id = ${wiki_id} order by path desc limit ${BATCH}) returning 1`,
    );
    await repeat(
      query,
      sql`
      delete from sources where wiki_id = ${wiki_id} and source_id in (
        select source_id from sources where wiki_id = ${wiki_id} limit ${BATCH}) returning 1`,
    );
    await query(sql`delete from wikis where wiki_id = ${wiki_id} and workspace_id is null`);
  }
}

async function repeat(query: Query, deletion: Sql): Promise<void> {
  while ((await query(deletion)).length === BATCH);
}
