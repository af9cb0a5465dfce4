import { type Sql, sql } from '../../platform/db/sql.ts';
import { citationColumns } from '../records/cited-blocks.ts';
import type { CitingPage } from './records.ts';

/**
 * Selects the columns of StoredSource from a source `s` and its text `t`, which may be missing. `isSeen` limits
 * `unlinked` to the pages that the caller may see: a condition on `p`, which the subquery defines.
 */
export function storedSourceColumns(isSeen: Sql): Sql {
  return sql`
  s.wiki_id, s.source_id, s.filename, s.title, s.content_type as detected_type, s.language, s.byte_size, s.sha256,
  s.extractor_version, s.losses, s.loss_count, s.losses_to_review, s.file_characters, coalesce(t.text, '') as text, exists (
    select from upload_files f
    where f.wiki_id = s.wiki_id and f.upload_id = s.upload_id and f.source_id = s.source_id and f.filename = s.filename
  ) as is_of_upload, array(
    select distinct p.page_id from (
      select f.page_id from upload_files f
      where f.sha256 = s.sha256 and f.wiki_id = s.wiki_id and f.source_id = s.source_id offset 0) f
    join pages p on p.wiki_id = s.wiki_id and p.page_id = f.page_id and p.source_count > 0 and ${isSeen}
    where not exists (select from page_sources o where o.wiki_id = p.wiki_id and o.page_id = p.page_id)
    order by p.page_id) as unlinked, coalesce((
    select f.content_type from upload_files f
    where f.wiki_id = s.wiki_id and f.upload_id = s.upload_id and f.source_id = s.source_id and f.filename = s.filename
    order by f.file_no limit 1), s.content_type) as content_type`;
}

const PAGES_AT_ONCE = 20;

/** Yields the pages of a source that satisfy `isSeen`, in batches. */
export async function* citingPages(
  many: (statement: Sql) => Promise<CitingPage[]>,
  { wiki_id, source_id }: { wiki_id: string; source_id: string },
  isSeen: Sql,
): AsyncGenerator<CitingPage[]> {
  for (let after = ''; ; ) {
    const pages = await many(sql`
      select ${citationColumns}, p.revision, p.title as page_title, p.origin as page_origin, p.description, p.word_count, p.tags,
        p.properties, p.source_count, r.page_id is not null as has_revision, coalesce(r.title, '') as title,
        coalesce(r.origin, 'compiled') as origin, coalesce(r.markdown, '') as markdown, coalesce(r.html, '') as html, coalesce(r.folder, '') as folder,
        coalesce(r.outline, '[]') as outline, coalesce(x.text, '') as page_text,
        (select count(*)::int from page_sources o where o.wiki_id = p.wiki_id and o.page_id = p.page_id) as sources,
        (select max(l.revision) from revisions l where l.wiki_id = p.wiki_id and l.page_id = p.page_id) as last_revision,
        coalesce((
          select f.filename from (
            select f.* from upload_files f
            where f.sha256 = s.sha256 and f.wiki_id = c.wiki_id and f.source_id = c.source_id and f.page_id = c.page_id offset 0) f
          order by f.upload_id desc, f.file_no limit 1), s.filename) as file,
        coalesce((
          select json_agg(json_build_object('filename', a.filename, 'content_type', a.content_type, 'byte_size', a.byte_size,
            'sha256', a.sha256) order by a.attachment_id)
          from attachments a where a.wiki_id = p.wiki_id and a.page_id = p.page_id), '[]') as attachments
      from page_sources c join sources s on s.wiki_id = c.wiki_id and s.source_id = c.source_id
      join pages p on p.wiki_id = c.wiki_id and p.page_id = c.page_id and ${isSeen}
      left join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
      left join page_texts x on x.wiki_id = p.wiki_id and x.page_id = p.page_id
      where c.wiki_id = ${wiki_id} and c.source_id = ${source_id} and c.page_id > ${after}
      order by c.page_id limit ${PAGES_AT_ONCE}`);
    yield pages;
    if (pages.length < PAGES_AT_ONCE) return;
    after = pages.at(-1)?.page_id ?? '';
  }
}
