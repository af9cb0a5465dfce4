import { withCurrentLinks } from '@ibid/markdown/page-links.ts';
import { markdownOf } from '../../../platform/core/packed-texts.ts';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { isPossibleTarget } from '../../../wiki/pages/links/moved-links.ts';
import type { ArchivedAttachment, ArchivedPage, ArchivedPerson, ArchivedRevision, Manifest } from './archive-format.ts';

/**
 * Statements walk the keys page by page with lateral joins. Such a plan stays the same right after an import, when the
 * planner has no statistics yet and would otherwise scan whole tables.
 */

/** Rows per query, few enough to fit into memory with texts of up to 1.5 MiB. */
const PAGES = 100;
const REVISIONS = 32;
const ATTACHMENTS = 500;

export interface PageRow extends Omit<ArchivedPage, 'file' | 'crc32'> {
  slug: string;
  has_children: boolean;
  /** With links to the current paths of their pages. */
  markdown: string;
}

interface ManifestRow
  extends Omit<Manifest['wiki'], 'home_page_id'>,
    Pick<Manifest, 'pages' | 'revisions' | 'attachments'> {
  home_page_id: string | null;
}

/** Reads the manifest of a wiki; pages in the trash do not count. */
export async function readManifest(query: Query, wiki_id: string): Promise<Omit<Manifest, 'format' | 'version'>> {
  const [row] = await query<ManifestRow>(sql`
    select w.wiki_id, w.slug, w.title, w.description,
      (select p.page_id from pages p
        where p.wiki_id = w.wiki_id and p.page_id = w.home_page_id and p.trashed_at is null) as home_page_id,
      (select count(*)::int from pages p where p.wiki_id = w.wiki_id and p.trashed_at is null) as pages,
      (select count(*)::int from pages p join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id
        where p.wiki_id = w.wiki_id and p.trashed_at is null) as revisions,
      (select count(*)::int from pages p join attachments a on a.wiki_id = p.wiki_id and a.page_id = p.page_id
        where p.wiki_id = w.wiki_id and p.trashed_at is null) as attachments
    from wikis w where w.wiki_id = ${wiki_id}`);
  if (!row) throw new Error('the wiki of an export does not exist');
  const { pages, revisions, attachments, home_page_id, ...wiki } = row;
  return { wiki: { ...wiki, ...(home_page_id && { home_page_id }) }, pages, revisions, attachments };
}

/** Reads all people that pages, revisions or attachments name. Deleted users have neither name nor address. */
export function readPeople(query: Query, wiki_id: string): Promise<ArchivedPerson[]> {
  return query<ArchivedPerson>(sql`
    with named as (
      select created_by as user_id from pages where wiki_id = ${wiki_id} and trashed_at is null
      union select updated_by from pages where wiki_id = ${wiki_id} and trashed_at is null
      union select r.created_by from pages p join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id
        where p.wiki_id = ${wiki_id} and p.trashed_at is null
      union select c.user_id from pages p join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id
        cross join lateral (values (r.claim ->> 'user_id'), (r.claim ->> 'imported_by')) c (user_id)
        where p.wiki_id = ${wiki_id} and p.trashed_at is null and r.claim is not null
      union select a.created_by from pages p join attachments a on a.wiki_id = p.wiki_id and a.page_id = p.page_id
        where p.wiki_id = ${wiki_id} and p.trashed_at is null
    )
    select n.user_id, coalesce(u.display_name, i.name, '') as name, coalesce(u.email, i.email, '') as email
    from named n left join users u on u.user_id = n.user_id
    left join imported_people i on i.wiki_id = ${wiki_id} and i.user_id = n.user_id
    order by n.user_id`);
}

/** Yields the pages by path, so that parents come first. */
export async function* readPages(query: Query, wiki_id: string): AsyncGenerator<PageRow> {
  for (let after = ''; ; ) {
    // Walks the index pages_live_path.
    const rows = await query<Omit<PageRow, 'meant'> & { folder: string; links: ArchivedLink[] | null }>(sql`
      with p as materialized (
        select *, path || '/' as below from pages
        where wiki_id = ${wiki_id} and trashed_at is null and path > ${after} order by path limit ${PAGES}
      )
      select p.page_id, p.path, p.slug, p.title, p.description, p.position, p.status, p.origin, p.stale, p.gone_file, p.revision, p.word_count,
        p.created_at, p.created_by, p.updated_at, p.updated_by, r.markdown, r.folder,
        coalesce(starts_with((
          select c.path from pages c where c.wiki_id = ${wiki_id} and c.trashed_at is null and c.path > p.below
          order by c.path limit 1), p.below), false) as has_children,
        coalesce((select json_agg(o.path order by o.path) from page_paths o
          where o.wiki_id = p.wiki_id and o.page_id = p.page_id), '[]') as former_paths,
        (select json_agg(json_build_object('to_path', l.to_path, 'places', l.places, 'page_id', t.page_id, 'path', t.path)
            order by l.to_path)
          from page_links l
          left join lateral (
            select t.page_id, t.path, t.trashed_at from pages t
            where t.wiki_id = ${wiki_id} and t.page_id = l.to_page_id offset 0) t on t.trashed_at is null
          where l.wiki_id = ${wiki_id} and l.from_page_id = p.page_id and ${isPossibleTarget(sql`l.to_path`)}
            and (t.path <> l.to_path or r.folder <> coalesce(p.parent_path, ''))) as links
      from p cross join lateral (
        select r.markdown, r.folder from revisions r
        where r.wiki_id = ${wiki_id} and r.page_id = p.page_id and r.revision = p.revision offset 0) r
      order by p.path`);
    for (const { folder, links, ...row } of rows) yield { ...row, ...linked(row, folder, links ?? []) };
    if (rows.length < PAGES) return;
    after = rows.at(-1)?.path ?? '';
  }
}

/** A link to a page that has moved, or in a page that moved after it was written. */
interface ArchivedLink {
  to_path: string;
  places: number[];
  /** null if the target page does not exist. */
  page_id: string | null;
  path: string | null;
}

function linked(row: { path: string; markdown: string }, folder: string, links: readonly ArchivedLink[]) {
  const meant = links.flatMap(({ to_path, page_id, path }) =>
    page_id === null || path === to_path ? [] : [{ to_path, page_id }],
  );
  const moved = links.map(({ to_path, places, path }) => ({ to_path, places, path: path ?? to_path }));
  return { meant, markdown: withCurrentLinks({ ...row, html: '' }, folder, moved).markdown };
}

interface ClaimedRow extends Omit<ArchivedRevision, 'claim'> {
  claim: ArchivedRevision['claim'] | null;
}

/** Yields all revisions by page path, the oldest first, with the stored Markdown. */
export async function* readHistory(query: Query, wiki_id: string): AsyncGenerator<ArchivedRevision> {
  for (let after = ''; ; ) {
    const pages = await query<{ page_id: string; path: string }>(sql`
      select p.page_id, p.path from pages p where p.wiki_id = ${wiki_id} and p.trashed_at is null and p.path > ${after}
      order by p.path limit ${PAGES}`);
    const ids = pages.map(({ page_id }) => page_id);
    for (let place = 0, revision = 0; ; ) {
      const rows = await query<ClaimedRow & { place: number; packed: Buffer | null }>(sql`
        select g.place::int, r.page_id, r.revision, r.title, r.origin, r.folder, r.created_at, r.created_by,
          r.claim, r.markdown, r.packed
        from unnest(${ids}::text[]) with ordinality g (page_id, place)
        cross join lateral (
          select * from revisions r where r.wiki_id = ${wiki_id} and r.page_id = g.page_id
            and r.revision > case when g.place = ${place}::bigint then ${revision}::int else 0 end
          order by r.revision limit ${REVISIONS}) r
        where g.place >= ${place}::bigint
        order by g.place, r.revision limit ${REVISIONS}`);
      for (const { place: _, packed, claim, ...row } of rows) {
        yield { ...row, ...(claim && { claim }), markdown: await markdownOf({ ...row, packed }) };
      }
      if (rows.length < REVISIONS) break;
      ({ place, revision } = rows.at(-1) ?? { place, revision });
    }
    if (pages.length < PAGES) return;
    after = pages.at(-1)?.path ?? '';
  }
}

/** Yields the attachments of all pages, by id. */
export async function* readAttachments(
  query: Query,
  wiki_id: string,
): AsyncGenerator<Omit<ArchivedAttachment, 'file'>> {
  for (let after = ''; ; ) {
    const rows = await query<Omit<ArchivedAttachment, 'file'>>(sql`
      select a.attachment_id, a.page_id, a.filename, a.content_type, a.byte_size, a.sha256, a.created_at, a.created_by
      from attachments a join pages p on p.wiki_id = a.wiki_id and p.page_id = a.page_id and p.trashed_at is null
      where a.wiki_id = ${wiki_id} and a.attachment_id > ${after}
      order by a.attachment_id limit ${ATTACHMENTS}`);
    yield* rows;
    if (rows.length < ATTACHMENTS) return;
    after = rows.at(-1)?.attachment_id ?? '';
  }
}
