import { isMarkdownName } from '@ibid/documents/formats/file-type.ts';
import { aliasesOf } from '@ibid/documents/links/aliases.ts';
import { normalizeName } from '@ibid/documents/links/find-file.ts';
import { titleOfBeginning } from '@ibid/documents/links/title-of-beginning.ts';
import { WEIGHT_BYTES } from '@ibid/documents/order/page-weight.ts';
import { pathOfTarget } from '@ibid/markdown/wiki-links.ts';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { ClaimedJob } from '../../../platform/jobs/define-job.ts';
import { type Blobs, mapAtOnce } from '../../../platform/providers/storage/blobs.ts';
import { beginningOf, type FileRow } from '../order-files.ts';

interface TextBeginning {
  file: FileRow;
  beginning: string;
  aliases: string[];
  path: string;
}

/**
 * Reads the aliases that texts of an upload give their pages, and returns them as filenames in the same folder:
 * `V/Short` for a file in `V` with `aliases: [Short]`. `pages` maps filenames to paths. The path or title of another
 * page takes precedence, and an alias of two pages resolves to neither.
 */
export async function readAliases(
  blobs: Pick<Blobs, 'stream'>,
  query: Query,
  { wiki_id, upload_id }: ClaimedJob,
  pages: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const files = await query<FileRow>(sql`
    select file_no, filename, content_type, byte_size, sha256 from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind = 'file' and sha256 <> '' and not is_attachment
    order by file_no`);
  const texts = await mapAtOnce(
    files.filter(({ filename }) => isMarkdownName(filename)),
    async (file): Promise<TextBeginning> => {
      const beginning = (await beginningOf(blobs, file, WEIGHT_BYTES)) ?? '';
      return { file, beginning, aliases: aliasesOf(beginning), path: pages.get(file.filename) ?? '' };
    },
  );
  const named = texts.flatMap(({ file: { filename }, aliases, path }) =>
    path === ''
      ? []
      : aliases.map((alias) => ({ alias, path, folder: filename.slice(0, filename.lastIndexOf('/') + 1) })),
  );
  if (named.length === 0) return new Map();
  const pathsOf = Map.groupBy(named, ({ alias }) => normalizeName(alias));
  const titled = new Map([...titlesOf(texts, pathsOf), ...(await pagesNamed(query, wiki_id, [...pathsOf.keys()]))]);
  return new Map(
    named.flatMap(({ alias, path, folder }) => {
      const name = normalizeName(alias);
      const isOfOne = pathsOf.get(name)?.every((other) => other.path === path);
      const found = titled.get(name) ?? (isOfOne ? path : undefined);
      return found === undefined ? [] : [[folder + alias, found] as const];
    }),
  );
}

/** Maps each of these names that is the title of a text to the text's page; the first text with a title wins. */
function titlesOf(texts: readonly TextBeginning[], names: ReadonlyMap<string, unknown>): Map<string, string> {
  const titles = new Map<string, string>();
  for (const { file, beginning, path } of texts) {
    const { title, is_filename } = titleOfBeginning({ ...file, bytes: Buffer.from(beginning) });
    const name = normalizeName(title);
    if (path !== '' && !is_filename && names.has(name) && !titles.has(name)) titles.set(name, path);
  }
  return titles;
}

/** Returns the pages that wiki links of these names resolve to by path or title. */
async function pagesNamed(query: Query, wiki_id: string, names: readonly string[]): Promise<Map<string, string>> {
  const given = names.map((name) => ({ name, path: pathOfTarget(name) }));
  const rows = await query<{ name: string; path: string }>(sql`
    select distinct on (g.name) g.name, p.path
    from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g (name text, path text)
    cross join lateral (
      select p.path, 0 as place from pages p
      where p.wiki_id = ${wiki_id} and p.path = g.path and p.trashed_at is null and p.status <> 'draft'
      union all
      select p.path, 1 from pages p
      where p.wiki_id = ${wiki_id} and p.title_key = g.name and p.trashed_at is null and p.status <> 'draft') p
    order by g.name, p.place, length(p.path), p.path`);
  return new Map(rows.map(({ name, path }) => [name, path]));
}
