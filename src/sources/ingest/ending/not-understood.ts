import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';

/** Markup of other tools that pages show verbatim, with its name in the summary. */
const SYNTAX: readonly [name: string, pattern: RegExp][] = [
  ['{% … %}', /\{%/g],
  [':::', /:::+/g],
  ['{{ … }}', /\{\{/g],
  ['((id))', /\(\([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\)\)/gi],
];

/** Code and formulas, in which such markup is legitimate. */
const CODE = /<(pre|code)[\s>][\s\S]*?<\/\1>|<(span|div) class="math[^"]*">[^<]*<\/\2>/g;

/** Formats of other tools that have no reader and become plain text. */
const MARKUP = '[.](?:enex|rst|org|mediawiki|wikitext|wiki|textile|tex|latex|opml|css|vtt|srt|mhtml?|xml|json)$';

const BATCH = 200;

/** Markup and formats that the pages of an upload show verbatim. */
export interface NotUnderstood {
  /** Occurrences of each kind of markup, without zero counts. */
  counts: [name: string, count: number][];
  pages: number;
  filenames: string[];
  plain: { count: number; filenames: string[] };
}

/**
 * Finds markup that was shown verbatim. Skips pages that the upload did not change. `named` limits the listed
 * filenames.
 */
export async function findNotUnderstood(
  query: Query,
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
  named: number,
): Promise<NotUnderstood> {
  const counts = new Map<string, number>();
  const filenames: string[] = [];
  let pages = 0;
  for (let after = -1; ; ) {
    const rows = await query<{ file_no: number; filename: string; html: string }>(sql`
      select f.file_no, f.filename, r.html from upload_files f
      join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
      join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
      where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.file_no > ${after}
        and f.page_change in ('new', 'updated', 'merged')
        and (strpos(r.html, '{%') > 0 or strpos(r.html, ':::') > 0 or strpos(r.html, '{{') > 0 or strpos(r.html, '((') > 0)
      order by f.file_no limit ${BATCH}`);
    for (const { file_no, filename, html } of rows) {
      after = file_no;
      const found = countIn(html);
      if (found.length === 0) continue;
      pages += 1;
      const name = filename.replace(/#.*$/, '');
      if (filenames.length < named && !filenames.includes(name)) filenames.push(name);
      for (const [syntax, count] of found) counts.set(syntax, (counts.get(syntax) ?? 0) + count);
    }
    if (rows.length < BATCH) break;
  }
  return { counts: [...counts], pages, filenames, plain: await plainTexts(query, { wiki_id, upload_id }, named) };
}

function countIn(html: string): [name: string, count: number][] {
  const text = html.replace(CODE, '').replace(/<[^<>]*>/g, '');
  return SYNTAX.flatMap(([name, pattern]): [string, number][] => {
    const count = text.match(pattern)?.length ?? 0;
    return count > 0 ? [[name, count]] : [];
  });
}

async function plainTexts(
  query: Query,
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
  named: number,
): Promise<NotUnderstood['plain']> {
  const rows = await query<{ filename: string; count: number }>(sql`
    select f.filename, (count(*) over ())::int as count from upload_files f
    join sources s on s.wiki_id = f.wiki_id and s.source_id = f.source_id
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.kind = 'file' and f.status = 'done'
      and not f.is_attachment and s.content_type = 'text/plain' and f.filename ~* ${MARKUP}
    order by f.file_no limit ${named}`);
  return { count: rows[0]?.count ?? 0, filenames: rows.map(({ filename }) => filename) };
}
