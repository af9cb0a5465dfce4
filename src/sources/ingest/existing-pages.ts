import { mayLead } from '@ibid/markdown/page-links.ts';
import { markdownOf } from '../../platform/core/packed-texts.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { isPossibleTarget } from '../../wiki/pages/links/moved-links.ts';
import type { CompiledUploadFile, ExistingPage } from './compiled-upload.ts';

interface ExistingPagesOf {
  wiki_id: string;
  upload_id: string;
  compiled: readonly CompiledUploadFile[];
  isLocked: boolean;
}

/**
 * Reads the current state of the pages that files are about to write; missing pages are omitted. `isLocked` locks them
 * against edits until the transaction ends; the caller holds the lock of the wiki.
 */
export async function readExistingPages(
  query: Query,
  { wiki_id, upload_id, compiled, isLocked }: ExistingPagesOf,
): Promise<Map<string, ExistingPage>> {
  const page_ids = compiled.map(({ file }) => file.page_id);
  if (isLocked) {
    // Lock in a separate statement: a statement that waits for a concurrent edit would return the new row of the page
    // with the old revision.
    await query(sql`
      select from pages where wiki_id = ${wiki_id} and page_id = any (${page_ids}::text[])
      order by page_id for no key update`);
  }
  const files = compiled.map(({ file: { page_id, sha256 }, page }) => {
    // Ignore links by title: a title that was added later must not create a revision of unchanged bytes.
    const named = new Set(page?.named_paths);
    return {
      page_id,
      sha256,
      links:
        page?.page_links
          .filter((link) => mayLead(link) && !named.has(link.to_path))
          .map(({ to_path, wanted_path, wanted_title }) => ({ to_path, path: wanted_path ?? to_path, wanted_title })) ??
        [],
      dead: page?.page_links.filter((link) => !mayLead(link)).map(({ to_path }) => to_path) ?? [],
    };
  });
  // After a conflict, the base is the pending text once the page is no longer stale: its author has seen that text.
  const found = await query<ExistingPage & { base_packed: Buffer | null }>(sql`
    select p.page_id, p.path, p.trashed_at is not null as is_trashed, p.revision, p.title,
      r.origin = 'authored' as is_edited, r.folder, b.page_id is not null as has_base,
      case when r.origin = 'authored' then r.markdown else '' end as markdown,
      coalesce(encode(sha256(convert_to(x.text, 'UTF8')), 'hex'), '') as text_hash,
      exists (select from page_links l where l.wiki_id = p.wiki_id and l.from_page_id = p.page_id and ${isPossibleTarget(sql`l.to_path`)}) as has_links,
      case when b.waiting_markdown <> '' and not p.stale then b.waiting_markdown else coalesce(b.markdown, c.markdown, '') end
        as base_markdown,
      case when b.page_id is null then c.packed end as base_packed,
      case when b.waiting_markdown <> '' and not p.stale then b.waiting_title else coalesce(b.title, c.title, '') end
        as base_title,
      exists (
        select from page_sources o join sources s on s.wiki_id = o.wiki_id and s.source_id = o.source_id
        where o.wiki_id = p.wiki_id and o.page_id = p.page_id and s.sha256 = g.sha256
      ) and (p.stale or coalesce(b.waiting_markdown, '') = '') and not exists (
        select from (
          select to_path, path, lower(wanted_title) as title_key
          from jsonb_to_recordset(g.links) as u (to_path text, path text, wanted_title text) offset 0) u
        where not exists (
          select from page_links l where l.wiki_id = p.wiki_id and l.from_page_id = p.page_id and l.to_path = u.to_path)
        and not exists (
          select from pages t join page_links l on l.wiki_id = t.wiki_id and l.to_page_id = t.page_id
          where t.wiki_id = p.wiki_id and t.path = u.path and t.trashed_at is null and l.from_page_id = p.page_id)
        -- What people save has the path of the page that a [[wiki link]] names.
        and not exists (
          select from pages t join page_links l on l.wiki_id = t.wiki_id and l.to_page_id = t.page_id
          where t.wiki_id = p.wiki_id and t.title_key = u.title_key and t.trashed_at is null and l.from_page_id = p.page_id)
        -- A page that this upload moves there, now or with a later batch.
        and not exists (
          select from upload_files n join page_links l on l.wiki_id = n.wiki_id and l.to_page_id = n.page_id
          where n.wiki_id = p.wiki_id and n.upload_id = ${upload_id} and n.page_path = u.path and n.page_path <> ''
            and l.from_page_id = p.page_id)
      ) and (r.origin = 'authored' or not exists (
        select from page_links l
        where l.wiki_id = p.wiki_id and l.from_page_id = p.page_id and not ${isPossibleTarget(sql`l.to_path`)} and not g.dead @> to_jsonb(l.to_path))) as is_same_file
    from pages p
    join jsonb_to_recordset(${JSON.stringify(files)}::jsonb) as g (page_id text, sha256 text, links jsonb, dead jsonb) on g.page_id = p.page_id
    join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
    left join page_texts x on x.wiki_id = p.wiki_id and x.page_id = p.page_id
    left join page_bases b on b.wiki_id = p.wiki_id and b.page_id = p.page_id
    left join lateral (
      select c.markdown, c.packed, c.title from revisions c
      where c.wiki_id = p.wiki_id and c.page_id = p.page_id and c.origin = 'compiled' order by c.revision desc limit 1
    ) c on true
    where p.wiki_id = ${wiki_id} and p.page_id = any (${page_ids}::text[])`);
  const pages: ExistingPage[] = [];
  for (const { base_packed, ...page } of found) {
    pages.push({ ...page, base_markdown: await markdownOf({ markdown: page.base_markdown, packed: base_packed }) });
  }
  // An unchanged text shows another picture if the picture's file has changed.
  const showsNew = new Set(
    compiled.filter(({ pictures }) => pictures.some(({ isOfUpload }) => isOfUpload)).map(({ file }) => file.page_id),
  );
  return new Map(
    pages.map((page) => [page.page_id, { ...page, is_same_file: page.is_same_file && !showsNew.has(page.page_id) }]),
  );
}
