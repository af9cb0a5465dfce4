import { childSlug } from '@ibid/documents/file-paths.ts';
import type { Part } from '@ibid/documents/split/split-document.ts';
import { numberedPageSlug } from '@ibid/markdown/slugs/page-slug.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { PendingFile } from './compiled-upload.ts';
import { withRun } from './sync-folder.ts';

/** State that all divided files of an upload share while its job runs in this process. */
export interface SectionPlans {
  next_no: number;
  /** Pages already assigned to a section, so that two files of the same name share none. */
  given: Set<string>;
}

export async function openSectionPlans(
  query: Query,
  upload: { wiki_id: string; upload_id: string },
): Promise<SectionPlans> {
  const [row] = await query<{ next_no: number }>(sql`
    select max(file_no) + 1 as next_no from upload_files
    where wiki_id = ${upload.wiki_id} and upload_id = ${upload.upload_id}`);
  return { next_no: row?.next_no ?? 0, given: new Set() };
}

/**
 * Assigns a page to each part of a document, as `planUpload` does for files: the page this section of this filename
 * created earlier, even if it has moved, otherwise a new page below its parent part. Assignments of an interrupted
 * attempt are kept. Returns a row for each part except the first, which is the file itself.
 */
export async function planSections(
  query: Query,
  plans: SectionPlans,
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
  file: PendingFile,
  parts: readonly Part[],
): Promise<PendingFile[]> {
  const names: string[] = [];
  for (const { parent, name } of parts) {
    names.push(parent < 0 ? file.filename : `${names[parent]}${parent === 0 ? '#' : '/'}${name}`);
  }
  const planned = await query<PendingFile>(sql`
    select file_no, kind, filename, content_type, byte_size, sha256, page_path, page_id, status, section_of, attempts, renamed_from, position
    from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and section_of = ${file.file_no}`);
  const rowOf = new Map(planned.map((row) => [row.filename, row]));
  const earlier = await query<{ filename: string; page_id: string; path: string }>(sql`
    select distinct on (f.filename) f.filename, p.page_id, p.path
    from upload_files f
    ${withRun}
    join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
    where f.wiki_id = ${wiki_id} and f.status = 'done' and f.kind = 'section' and p.origin = 'compiled'
      and p.trashed_at is null and f.filename = any (${names.slice(1)}::text[])
    order by f.filename, ran.ran_at desc`);
  const pageOf = new Map(earlier.map((page) => [page.filename, page]));
  const isTaken = await takenPathsBelow(query, { wiki_id, upload_id }, file.page_path);

  const rows: PendingFile[] = [];
  for (const [i, { parent, name, markdown }] of parts.entries()) {
    if (parent < 0) continue;
    const filename = names[i] ?? '';
    const known = rowOf.get(filename) ?? knownPage(filename);
    const page_path = known?.page_path ?? freePath(rows[parent - 1]?.page_path ?? file.page_path, name);
    rows.push({
      file_no: plans.next_no++,
      status: 'pending',
      page_id: newId('page'),
      attempts: 0,
      renamed_from: '',
      position: null,
      ...known,
      kind: 'section',
      filename,
      content_type: file.content_type,
      byte_size: Buffer.byteLength(markdown),
      sha256: file.sha256,
      page_path,
      section_of: file.file_no,
    });
  }
  return rows;

  function knownPage(filename: string) {
    const page = pageOf.get(filename);
    if (!page || plans.given.has(page.page_id)) return undefined;
    plans.given.add(page.page_id);
    return { page_id: page.page_id, page_path: page.path };
  }

  function freePath(folder: string, name: string): string {
    const slug = childSlug(folder, name);
    for (let n = 1; ; n += 1) {
      const path = `${folder}/${n === 1 ? slug : numberedPageSlug(slug, n)}`;
      if (isTaken.has(path)) continue;
      isTaken.add(path);
      return path;
    }
  }
}

/** Returns the paths below a page that are taken by pages or planned for files of the upload. */
async function takenPathsBelow(
  query: Query,
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
  page_path: string,
): Promise<Set<string>> {
  // Paths are compared bytewise, and "0" is the character after "/".
  const [from, to] = [`${page_path}/`, `${page_path}0`];
  const taken = await query<{ path: string }>(sql`
    select path from pages where wiki_id = ${wiki_id} and trashed_at is null and path > ${from} and path < ${to}
    union
    select page_path from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and page_path > ${from} and page_path < ${to}`);
  return new Set(taken.map(({ path }) => path));
}
