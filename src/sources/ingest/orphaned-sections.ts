import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { withRun } from './sync-folder.ts';

/**
 * Marks pages as stale if their sections no longer exist in the document. Returns their number. The pages stay, like
 * pages of removed files: users may have edited them or linked to them, and can move them to the trash.
 */
export async function markOrphanedSections(
  query: Query,
  upload: { wiki_id: string; upload_id: string },
): Promise<number> {
  const { wiki_id, upload_id } = upload;
  const lost = await query(sql`
    update pages p set stale = true
    from upload_files g
    cross join lateral (
      select f.upload_id, f.file_no from (
        select f.* from upload_files f
        where f.wiki_id = ${wiki_id} and f.filename = g.filename and f.status = 'done' and f.kind = 'file' and f.upload_id <> ${upload_id}
        offset 0) f
      ${withRun}
      order by ran.ran_at desc limit 1) e
    join upload_files s on s.wiki_id = ${wiki_id} and s.upload_id = e.upload_id and s.section_of = e.file_no and s.status = 'done'
    where g.wiki_id = ${wiki_id} and g.upload_id = ${upload_id} and g.kind = 'file' and g.status = 'done'
      and not exists (
        select from upload_files n
        where n.wiki_id = ${wiki_id} and n.upload_id = ${upload_id} and n.kind = 'section' and n.page_id = s.page_id)
      and p.wiki_id = ${wiki_id} and p.page_id = s.page_id and p.trashed_at is null and not p.stale
    returning p.page_id`);
  return lost.length;
}
