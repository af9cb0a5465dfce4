import { packTexts, type Texts } from '../../platform/core/packed-texts.ts';
import type { Query } from '../../platform/db/db.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';

/**
 * Revisions are packed once the revision that replaced them is this old. Longer than any transaction that writes a
 * revision: `created_at` is the start of the transaction, so a younger one may not be committed yet.
 */
const AGE = raw(`interval '1 hour'`);

/** Revisions read per query, and bytes of text packed per statement. A single larger revision is packed alone. */
const BATCH = 200;
const BATCH_BYTES = 2 ** 20;

interface Replaced {
  page_id: string;
  revision: number;
  bytes: number;
  /** The revision that replaced this one, and the time. */
  by_revision: number;
  replaced_at: string;
}

/**
 * Packs the texts of replaced revisions in chronological order, starting where the last run ended. Readers get the same
 * bytes as before.
 */
export const packRevisions = defineJob({
  name: 'pack-revisions',
  for: 'wiki',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 3_600,
  every: 3_600,
  due: sql`select wiki_id, workspace_id from wikis_with_revisions_to_pack(${AGE})`,
  async run({ db, target: { wiki_id }, signal }) {
    const [begun] = await db.query<{ packed_to: string | null; horizon: string }>(sql`
      select revisions_packed_to::text as packed_to, (now() - ${AGE})::text as horizon
      from wikis where wiki_id = ${wiki_id}`);
    if (!begun) return;
    let { packed_to } = begun;
    let after = { replaced_at: packed_to ?? '-infinity', page_id: '', by_revision: 0 };
    for (;;) {
      const found = await replacedBefore(db.query, wiki_id, begun.horizon, after);
      for (const batch of batchesOf(found)) {
        if (signal.aborted) return;
        await pack(db.query, wiki_id, batch);
      }
      after = found.at(-1) ?? after;
      const isEnd = found.length < BATCH;
      // Only the time is stored: the next run reads all replacements at that time again. An import resets the time.
      const reached = isEnd ? begun.horizon : after.replaced_at;
      const noted = await db.query(sql`
        update wikis set revisions_packed_to = ${reached}::timestamptz
        where wiki_id = ${wiki_id} and revisions_packed_to is not distinct from ${packed_to}::timestamptz returning 1`);
      if (isEnd || noted.length === 0) return;
      packed_to = reached;
    }
  },
});

/** Selects the next replaced revisions, packed or not, each with its replacement. */
function replacedBefore(
  query: Query,
  wiki_id: string,
  horizon: string,
  after: Pick<Replaced, 'replaced_at' | 'page_id' | 'by_revision'>,
): Promise<Replaced[]> {
  return query<Replaced>(sql`
    with later as materialized (
      select s.created_at, s.page_id, s.revision from revisions s
      where s.wiki_id = ${wiki_id} and s.revision > 1 and s.created_at >= ${after.replaced_at}::timestamptz
        and s.created_at < ${horizon}::timestamptz
        and (s.created_at, s.page_id, s.revision) > (${after.replaced_at}::timestamptz, ${after.page_id}::text, ${after.by_revision}::int)
      order by s.created_at, s.page_id, s.revision limit ${BATCH}
    )
    select l.page_id, coalesce(r.revision, 0) as revision, coalesce(r.bytes, 0) as bytes, l.revision as by_revision,
      l.created_at::text as replaced_at
    from later l left join lateral (
      select r.revision, case when r.packed is null then octet_length(r.markdown) + octet_length(r.html) end as bytes
      from revisions r where r.wiki_id = ${wiki_id} and r.page_id = l.page_id and r.revision < l.revision
      order by r.revision desc limit 1 offset 0) r on true
    order by l.created_at, l.page_id, l.revision`);
}

/** Groups the revisions that are not packed yet into batches. */
function batchesOf(found: readonly Replaced[]): Replaced[][] {
  const batches: Replaced[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const each of found.filter(({ bytes }) => bytes > 0)) {
    if (size + each.bytes > BATCH_BYTES) {
      batches.push([]);
      size = 0;
    }
    batches.at(-1)?.push(each);
    size += each.bytes;
  }
  return batches;
}

async function pack(query: Query, wiki_id: string, batch: readonly Replaced[]): Promise<void> {
  const keys = sql`unnest(${batch.map(({ page_id }) => page_id)}::text[], ${batch.map(({ revision }) => revision)}::int[])`;
  const rows = await query<Texts & { page_id: string; revision: number; bytes: number }>(sql`
    select r.page_id, r.revision, r.markdown, r.html, r.outline, octet_length(r.markdown) + octet_length(r.html) as bytes
    from ${keys} g (page_id, revision)
    cross join lateral (
      select * from revisions r where r.wiki_id = ${wiki_id} and r.page_id = g.page_id and r.revision = g.revision
        and r.packed is null offset 0) r`);
  const packed: string[] = [];
  for (const row of rows) packed.push((await packTexts(row)).toString('hex'));
  const given = rows.map(({ page_id, revision, bytes }, i) => ({ page_id, revision, bytes, packed: packed[i] }));
  await query(sql`
    update revisions r set packed = decode(g.packed, 'hex'), unpacked_bytes = g.bytes, markdown = '', html = '', outline = '[]'
    from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g (page_id text, revision int, bytes int, packed text)
    where r.wiki_id = ${wiki_id} and r.page_id = g.page_id and r.revision = g.revision and r.packed is null
      and exists (
        select from pages p where p.wiki_id = r.wiki_id and p.page_id = r.page_id and p.revision > r.revision)`);
}
