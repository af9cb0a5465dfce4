import { randomInt } from 'node:crypto';
import { folderOf } from '@ibid/markdown/page-links.ts';
import { numberedPageSlug } from '@ibid/markdown/slugs/page-slug.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { CompiledUploadFile, UploadWrite } from './compiled-upload.ts';

interface Place {
  parent_page_id: string | null;
  parent_path: string | null;
  slug: string;
  path: string;
}

/** Finds free paths for new pages, each below the page of its folder. */
export async function placePages(
  query: Query,
  { wiki_id, upload_id }: UploadWrite,
  compiled: readonly CompiledUploadFile[],
) {
  const folders = [...new Set(compiled.map(({ file }) => folderOf(file.page_path)))];
  const parents = await query<{ planned: string; page_id: string; path: string }>(sql`
    with found as materialized (
      select g.planned, coalesce(
        (select f.page_id from upload_files f join pages n on n.wiki_id = f.wiki_id and n.page_id = f.page_id
          where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.page_path = g.planned and f.page_path <> ''
            and n.trashed_at is null
          order by f.file_no limit 1),
        (select n.page_id from pages n where n.wiki_id = ${wiki_id} and n.path = g.planned and n.trashed_at is null)) as page_id
      from unnest(${folders}::text[]) g (planned)
    )
    select f.planned, p.page_id, p.path from found f
    join pages p on p.wiki_id = ${wiki_id} and p.trashed_at is null and p.page_id = f.page_id`);
  const pageAt = new Map(parents.map(({ planned, page_id, path }) => [planned, { page_id, path }]));
  const takenOf = async (candidates: readonly string[]) => {
    // Also by pages that the uploader does not see.
    const taken = await query<{ path: string }>(sql`select taken_paths(${wiki_id}, ${candidates}::text[]) as path`);
    return new Set(taken.map(({ path }) => path));
  };
  // Pages that this batch creates have no children yet, so these are the only candidates. Usually none is taken.
  const candidatesOf = (planned: string) => {
    const parent = pageAt.get(folderOf(planned));
    return slugsOf(planned).map((slug) => pathBelow(parent, slug));
  };
  const candidates = compiled.map(({ file }) => candidatesOf(file.page_path));
  const firsts = candidates.map(([first = '']) => first);
  const taken = await takenOf(firsts);
  const isContested = taken.size > 0 || new Set(firsts).size < firsts.length;
  const paths = isContested ? await takenOf(candidates.flat()) : taken;

  return (planned: string, page_id: string): Place => {
    const parent = pageAt.get(folderOf(planned));
    for (const slug of [...slugsOf(planned), numberedPageSlug('page', randomInt(10 ** 9, 10 ** 10))]) {
      const path = pathBelow(parent, slug);
      if (paths.has(path)) continue;
      paths.add(path);
      // Later pages of the batch may be its children.
      pageAt.set(planned, { page_id, path });
      return { parent_page_id: parent?.page_id ?? null, parent_path: parent?.path ?? null, slug, path };
    }
    throw new Error('every slug was taken');
  };
}

/** Yields the possible slugs of a page, the planned slug first. */
function slugsOf(planned: string): string[] {
  const slug = planned.slice(planned.lastIndexOf('/') + 1);
  return [slug, ...Array.from({ length: 9 }, (_, i) => numberedPageSlug(slug, i + 2))];
}

function pathBelow(parent: { path: string } | undefined, slug: string): string {
  return parent ? `${parent.path}/${slug}` : slug;
}
