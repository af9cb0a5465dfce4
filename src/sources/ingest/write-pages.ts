import { hash } from 'node:crypto';
import type { IndexedText } from '@ibid/markdown/analysis/document-terms.ts';
import { folderOf } from '@ibid/markdown/page-links.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { SentFile } from '../../platform/sandbox/rendering/responses.ts';
import { linksToPage } from '../../wiki/pages/place-page.ts';
import { pendingBatch } from '../../wiki/search/index/pending.ts';
import type { CompiledUploadFile, ExistingPage, Merges, PendingFile, UploadWrite } from './compiled-upload.ts';
import { readExistingPages } from './existing-pages.ts';
import { isSame } from './merge-edits.ts';
import { isRenamed, movePage } from './move-pages.ts';
import { placePages } from './page-placement.ts';

export interface WrittenPage {
  file: PendingFile;
  page: SentFile;
  page_id: string;
  /**
   * merged: combined with edits. kept: users and the file changed the same places, so the page is only marked as stale.
   */
  change: 'new' | 'updated' | 'merged' | 'same' | 'kept';
  /** Whether the page shows the file, and not a folder in place of a failed file. */
  isOfFile: boolean;
}

/** The page changed after the merge; merge it again. */
export class EditedMeanwhileError extends Error {}

/**
 * Creates new pages and revises changed ones. Pages were assigned before the first file was read, so their state is
 * read again under the lock of the wiki and the pages. A deleted page is created again, and a taken path stays with its
 * page. If a page was edited after the merge, throws EditedMeanwhileError; in the last merge attempt, keeps the edits
 * as a conflict.
 */
export async function writePages(
  query: Query,
  write: UploadWrite,
  compiled: readonly CompiledUploadFile[],
  merges: Merges,
): Promise<WrittenPage[]> {
  const { wiki_id, upload_id } = write;
  const present = await readExistingPages(query, { wiki_id, upload_id, compiled, isLocked: true });
  const isNew = ({ file, page }: CompiledUploadFile) => page && (present.get(file.page_id)?.is_trashed ?? true);
  const findPlace = await placePages(query, write, compiled.filter(isNew));
  const written: WrittenPage[] = [];
  const rows = [];
  const edited: EditedPage[] = [];
  for (const { file, result, page: ours } of compiled) {
    if (!ours) continue;
    const found = present.get(file.page_id);
    const before = found?.is_trashed ? undefined : found;
    const page_id = found?.is_trashed ? newId('page') : file.page_id;
    const { change, page } = changeFrom(before, ours, merges);
    written.push({ file, page, page_id, change, isOfFile: result.ok });
    if (before?.is_edited) edited.push({ before, ours, change });
    if (change === 'same' || change === 'kept') continue;
    const place = before ? undefined : findPlace(file.page_path, page_id);
    rows.push({
      ...place,
      page_id,
      folder: folderOf(file.page_path),
      position: file.position ?? file.file_no,
      revision: (before?.revision ?? 0) + 1,
      origin: change === 'merged' ? ('authored' as const) : ('compiled' as const),
      title: page.title,
      description: page.description,
      tags: page.tags,
      properties: page.properties,
      markdown: page.markdown,
      html: page.html,
      outline: page.outline,
      word_count: page.word_count,
      text: page.text,
      indexed: page.indexed,
    });
  }
  if (edited.length > 0) await writeBases(query, wiki_id, edited);
  if (rows.length > 0) await writeRows(query, write, rows);
  // Skip pages that are new, which already have the right path; `movePage` skips pages that moved along with a parent.
  for (const each of compiled) {
    if (!isRenamed(each.file, present.get(each.file.page_id))) continue;
    const place = await placePages(query, write, [each]);
    const { page_path, page_id } = each.file;
    await movePage(query, write, page_path, { ...place(page_path, page_id), page_id });
  }
  return written;
}

/** Decides how a page changes, and with which content. */
function changeFrom(
  before: ExistingPage | undefined,
  ours: SentFile,
  merges: Merges,
): { change: WrittenPage['change']; page: SentFile } {
  if (!before) return { change: 'new', page: ours };
  // An earlier release may have rendered other text from the same file, in which the current citations do not match.
  const isShownSame = before.is_edited || before.text_hash === hash('sha256', ours.text);
  if (isSame(before, ours)) return { change: isShownSame ? 'same' : 'updated', page: ours };
  if (!before.is_edited) return { change: 'updated', page: ours };
  const { present, page } = merges.of.get(before.page_id) ?? {};
  const isMeanwhile = present?.revision !== before.revision || present.path !== before.path;
  if (isMeanwhile && !merges.isLast) throw new EditedMeanwhileError();
  if (!page || isMeanwhile) return { change: 'kept', page: ours };
  if (page.markdown === before.markdown && page.title === before.title) return { change: 'same', page };
  if (page.markdown === ours.markdown && page.title === ours.title) return { change: 'updated', page };
  return { change: 'merged', page };
}

interface EditedPage {
  before: ExistingPage;
  ours: SentFile;
  change: WrittenPage['change'];
}

/** Stores the base of the next merge if no revision has it, and the pending text of a conflict until it is resolved. */
async function writeBases(query: Query, wiki_id: string, edited: readonly EditedPage[]): Promise<void> {
  const isKnown = ({ before, ours, change }: EditedPage) =>
    change === 'updated' || (change === 'same' && isSame(before, ours) && !before.has_base);
  const rows = edited
    .filter((page) => !isKnown(page))
    .map(({ before, ours, change }) => {
      const { page_id, base_title, base_markdown } = before;
      return change === 'kept'
        ? {
            page_id,
            title: base_title,
            markdown: base_markdown,
            waiting_title: ours.title,
            waiting_markdown: ours.markdown,
          }
        : { page_id, title: ours.title, markdown: ours.markdown, waiting_title: '', waiting_markdown: '' };
    });
  const known = edited.filter(isKnown).map(({ before }) => before.page_id);
  const stale = edited.filter(({ change }) => change === 'kept').map(({ before }) => before.page_id);
  await query(sql`
    with forgotten as (
      delete from page_bases where wiki_id = ${wiki_id} and page_id = any (${known}::text[])
    ), marked as (
      update pages set stale = true, gone_file = null where wiki_id = ${wiki_id} and page_id = any (${stale}::text[])
    )
    insert into page_bases (wiki_id, page_id, title, markdown, waiting_title, waiting_markdown)
    select ${wiki_id}, page_id, title, markdown, waiting_title, waiting_markdown
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as g (page_id text, title text, markdown text, waiting_title text, waiting_markdown text)
    on conflict (wiki_id, page_id) do update set title = excluded.title, markdown = excluded.markdown,
      waiting_title = excluded.waiting_title, waiting_markdown = excluded.waiting_markdown`);
}

interface PageRow {
  page_id: string;
  revision: number;
  origin: 'authored' | 'compiled';
  title: string;
  indexed: IndexedText;
}

async function writeRows(query: Query, { wiki_id, creator }: UploadWrite, rows: readonly PageRow[]): Promise<void> {
  const given = rows.map(({ indexed, ...row }) => row);
  await query(sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g (page_id text, path text, slug text,
        parent_path text, parent_page_id text, folder text, position int, revision int, origin text, title text, description text,
        markdown text, html text, outline jsonb, word_count int, text text, tags text[], properties jsonb)
    ), made as (
      insert into pages (wiki_id, page_id, path, slug, title, description, parent_page_id, parent_path, position, origin,
        revision, word_count, tags, properties, created_by, updated_by)
      select ${wiki_id}, page_id, path, slug, title, description, parent_page_id, parent_path, position, 'compiled', revision,
        word_count, tags, properties, ${creator}, ${creator}
      from given where revision = 1
    ), updated as (
      update pages p set title = g.title, description = g.description, revision = g.revision, word_count = g.word_count,
        tags = g.tags, properties = g.properties, stale = false, gone_file = null, updated_at = now(), updated_by = ${creator}
      from given g where p.wiki_id = ${wiki_id} and p.page_id = g.page_id and g.revision > 1
    ), revised as (
      insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by, origin, folder)
      select ${wiki_id}, page_id, revision, title, markdown, html, outline, ${creator}, origin, folder from given
    ), linked as (
      update page_links l set to_page_id = g.page_id
      from (select page_id, path, lower(title) as title_key from given where revision = 1 offset 0) g
      cross join lateral (${linksToPage(wiki_id, 'g')} offset 0) w
      where l.wiki_id = ${wiki_id} and l.from_page_id = w.from_page_id and l.to_path = w.to_path
        and (l.to_page_id is null or not exists (
          select from pages t where t.wiki_id = ${wiki_id} and t.page_id = l.to_page_id and t.trashed_at is null))
    )
    insert into page_texts (wiki_id, page_id, text) select ${wiki_id}, page_id, text from given
    on conflict (wiki_id, page_id) do update set text = excluded.text`);
  const documents = rows.map(({ page_id, revision, title, indexed }) => ({
    document_id: page_id,
    version: revision,
    title,
    body: indexed,
  }));
  await query(pendingBatch('page', wiki_id, documents));
}
