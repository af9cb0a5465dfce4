import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { isNotRenamed, withRun } from '../sync-folder.ts';

/** The page of a file or folder of an earlier upload. */
export interface EarlierPage {
  kind: 'file' | 'folder';
  filename: string;
  page_id: string;
  path: string;
  position: number;
  sha256: string;
  /** When the upload was processed, in seconds since 1970. */
  ran_at: number;
}

/** Returns the pages that files and folders of these names made last, even if the pages have moved. */
export function pagesOfNames(query: Query, wiki_id: string, names: readonly string[]): Promise<EarlierPage[]> {
  return query<EarlierPage>(sql`
    select distinct on (f.kind, f.filename) f.kind, f.filename, f.sha256, p.page_id, p.path, p.position,
      extract(epoch from ran.ran_at)::float8 as ran_at
    from upload_files f
    ${withRun}
    join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
    where f.wiki_id = ${wiki_id} and f.status = 'done' and not f.is_attachment and p.trashed_at is null
      and (f.kind = 'folder' or f.kind = 'file' and p.origin = 'compiled')
      and f.filename = any (${names}::text[]) and ${isNotRenamed}
    order by f.kind, f.filename, ran.ran_at desc, f.file_no`);
}

/**
 * Returns the existing page of each file of an upload, if any. A page belongs to one file: if two files made it in turn
 * (`guide.md`, then `guide/index.md`), the later one has it, and the other gets a new page.
 */
export async function knownPagesOf(
  query: Query,
  wiki_id: string,
  files: readonly { filename: string }[],
  earlier: readonly EarlierPage[],
): Promise<(EarlierPage | undefined)[]> {
  const pageOf = new Map(earlier.filter(({ kind }) => kind === 'file').map((page) => [page.filename, page]));
  const counts = new Map<string, number>();
  const repeats = files.map(({ filename }) => {
    const repeat = counts.get(filename) ?? 0;
    counts.set(filename, repeat + 1);
    return repeat;
  });
  const repeated = await pagesOfRepeats(
    query,
    wiki_id,
    [...counts].flatMap(([name, n]) => (n > 1 ? name : [])),
  );
  const known = files.map(({ filename }, i) =>
    repeats[i] === 0 ? pageOf.get(filename) : repeated.get(filename)?.[repeats[i] ?? 0],
  );
  const last = new Map<string, EarlierPage>();
  for (const page of known) {
    if (page && page.ran_at > (last.get(page.page_id)?.ran_at ?? 0)) last.set(page.page_id, page);
  }
  return known.map((page) => (page && last.get(page.page_id) === page ? page : undefined));
}

/** For names that several files of their last upload had, returns their pages in the order of that upload. */
async function pagesOfRepeats(
  query: Query,
  wiki_id: string,
  names: readonly string[],
): Promise<Map<string, EarlierPage[]>> {
  if (names.length === 0) return new Map();
  const pages = await query<EarlierPage>(sql`
    select 'file' as kind, f.filename, f.sha256, p.page_id, p.path, p.position,
      extract(epoch from ran.ran_at)::float8 as ran_at
    from upload_files f
    ${withRun}
    join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
    where f.wiki_id = ${wiki_id} and f.status = 'done' and f.kind = 'file' and not f.is_attachment
      and p.trashed_at is null and p.origin = 'compiled' and f.filename = any (${names}::text[])
    order by ran.ran_at desc, f.file_no`);
  const ofLast = new Map(pages.toReversed().map(({ filename, ran_at }) => [filename, ran_at]));
  return Map.groupBy(
    pages.filter(({ filename, ran_at }) => ofLast.get(filename) === ran_at),
    ({ filename }) => filename,
  );
}
