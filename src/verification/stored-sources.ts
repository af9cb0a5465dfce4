import { type Sql, sql } from '../db/sql.ts';
import { citationColumns } from '../sources/cited-blocks.ts';
import type { CitingPage } from './check-source.ts';

/** The columns of StoredSource from a source `s` and its text `t`. */
export const storedSourceColumns: Sql = sql`
  s.wiki_id, s.source_id, s.filename, s.title, s.content_type as detected_type, s.language, s.byte_size, s.sha256,
  s.extractor_version, s.losses, s.loss_count, s.losses_to_review, s.file_characters, t.text, coalesce((
    select f.content_type from upload_files f
    where f.wiki_id = s.wiki_id and f.upload_id = s.upload_id and f.source_id = s.source_id and f.filename = s.filename
    order by f.file_no limit 1), s.content_type) as content_type`;

/** Pages that are read together. */
const PAGES_AT_ONCE = 20;

/** The pages of a source in portions, those for which `isSeen` holds of `p`. */
export async function* citingPages(
  many: (statement: Sql) => Promise<CitingPage[]>,
  { wiki_id, source_id }: { wiki_id: string; source_id: string },
  isSeen: Sql,
): AsyncGenerator<CitingPage[]> {
  for (let after = ''; ; ) {
    const pages = await many(sql`
      select ${citationColumns}, r.revision, r.origin, r.markdown, r.html, r.outline, coalesce(x.text, '') as page_text
      from page_sources c
      join pages p on p.wiki_id = c.wiki_id and p.page_id = c.page_id and ${isSeen}
      join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
      left join page_texts x on x.wiki_id = p.wiki_id and x.page_id = p.page_id
      where c.wiki_id = ${wiki_id} and c.source_id = ${source_id} and c.page_id > ${after}
      order by c.page_id limit ${PAGES_AT_ONCE}`);
    yield pages;
    if (pages.length < PAGES_AT_ONCE) return;
    after = pages.at(-1)?.page_id ?? '';
  }
}
