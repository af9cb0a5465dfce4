import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { leadsOutsideWiki, writtenTarget } from '../../../wiki/pages/links/broken-links.ts';

/** The broken links of an upload's pages: their number, and the first ones with their files. */
export interface BrokenLinks {
  count: number;
  named: string[];
}

/** Unlinks pages that were planned for failed files, then finds the broken links of the upload's pages. */
export async function findBrokenLinks(
  query: Query,
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
  most: number,
): Promise<BrokenLinks> {
  await query(sql`
    update page_links l set to_page_id = null from upload_files f
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.status = 'failed'
      and l.wiki_id = ${wiki_id} and l.to_page_id = f.page_id
      and not exists (select from ids_in_use(array[f.page_id]))`);
  // Line numbers match the file only if the page shows an unedited Markdown file.
  const broken = sql`
    select distinct on (f.file_no, l.to_path) f.file_no, f.filename, l.to_path, ${writtenTarget} as target,
      case when f.kind = 'file' and s.content_type = 'text/markdown' and r.origin = 'compiled' then l.line else 0 end as line
    from upload_files f
    join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id and p.trashed_at is null
    join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
    join page_links l on l.wiki_id = f.wiki_id and l.from_page_id = f.page_id
    left join sources s on s.wiki_id = f.wiki_id and s.source_id = f.source_id
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.status = 'done' and f.kind <> 'archive' and not f.is_attachment
      and (l.to_page_id is null or not exists (
        select from pages t where t.wiki_id = l.wiki_id and t.page_id = l.to_page_id and t.trashed_at is null))
      and not ${leadsOutsideWiki(wiki_id)}`;
  const [all] = await query<{ count: number }>(sql`select count(*)::int as count from (${broken}) broken`);
  if (!all?.count) return { count: 0, named: [] };
  const first = await query<{ filename: string; line: number; target: string }>(sql`
    select filename, line, target from (${broken}) broken order by file_no, line, to_path limit ${most}`);
  return {
    count: all.count,
    named: first.map(({ filename, line, target }) => `${filename}${line > 0 ? `:${line}` : ''} → ${target}`),
  };
}
