import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { Id, Record, WikiParams } from '../../platform/core/records.ts';
import { openSizedCache } from '../../platform/core/sized-cache.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint, JsonText, NotModified } from '../../platform/http/endpoint.ts';
import { examplePage } from './schema.ts';
import { formOf, taggedTree } from './tree-tag.ts';

const TreeEntry = Record(
  {
    page_id: Id,
    parent_page_id: Type.String({ description: '"" at the root.' }),
    slug: Type.String(),
    title: Type.String(),
    status: Type.Enum(['draft', 'published', 'archived']),
  },
  { title: 'TreeEntry' },
);

/** Pages per row of the result and per chunk of the response; other requests are served in between. */
const PIECE = 500;

const { page_id, parent_page_id, slug, title, status } = examplePage;

const FORM = formOf(TreeEntry);

interface Tree {
  etag: string;
  pieces: readonly Buffer[];
  bytes: number;
}

/** Trees kept of a wiki: callers who see different pages see different trees. */
const KEPT = 4;

/**
 * Cache of the recent trees of a wiki, latest first: 32 MiB, which is about 200,000 pages. Each request asks the
 * database, under the caller's permissions, which version of the tree the caller sees now.
 */
const trees = openSizedCache<readonly Tree[]>(32 * 2 ** 20);

/**
 * The entries are small, because the response contains all pages: the path follows from the slugs of the ancestors, the
 * position from the order.
 */
export const getTree = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/tree',
  summary: 'Get the page tree',
  description:
    'All pages of the wiki, siblings in their order. Includes archived pages; drafts only if the caller may write.',
  access: onWiki('pages:read'),
  isHeavy: true,
  params: WikiParams,
  reply: Type.Array(TreeEntry),
  etag: () => '',
  example: { reply: [{ page_id, parent_page_id, slug, title, status }] },
  run: async ({ params, known_tags, many, setHeaders }) => {
    // Concatenates JSON, because row_to_json takes a third longer; ids and statuses contain no characters that JSON
    // escapes. Compares the tags first, so that no page is read if the client or this process has the tree.
    const cached = trees.get(params.wiki_id) ?? [];
    const rows = await many<{ tag: string; is_known: boolean; entries: string | null }>(sql`
      with tagged as materialized (
        select t.*, t.tag = any(${cached.map(({ etag }) => etag)}::text[]) as is_cached
        from (${taggedTree(params.wiki_id, FORM, known_tags)}) t
      )
      select t.tag, t.is_known, pieces.entries from tagged t left join (
        select piece, string_agg(entry, ',' order by n) as entries from (
          select n, (n - 1) / ${PIECE}::int as piece,
            '{"page_id":"' || page_id || '","parent_page_id":"' || parent_page_id || '","slug":' || to_json(slug)
              || ',"title":' || to_json(title) || ',"status":"' || status || '"}' as entry
          from (
            select p.page_id, coalesce(p.parent_page_id, '') as parent_page_id, p.slug, p.title, p.status,
              row_number() over (order by p.position, p.page_id) as n
            from pages p where p.wiki_id = ${params.wiki_id} and p.trashed_at is null and not (select is_known or is_cached from tagged)
          ) p
        ) numbered
        group by piece
      ) pieces on true
      order by pieces.piece
    `);
    const [first] = rows;
    if (!first) throw notFound();
    setHeaders({ etag: first.tag });
    if (first.is_known) return new NotModified();
    const tree = cached.find(({ etag }) => etag === first.tag);
    if (tree) return new JsonText(tree.pieces);
    const texts = rows.flatMap(({ entries }) => entries ?? []);
    const pieces = texts.map((entries, i) => Buffer.from(`${i === 0 ? '[' : ','}${entries}`));
    pieces.push(Buffer.from(pieces.length > 0 ? ']' : '[]'));
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    keepTree(params.wiki_id, { etag: first.tag, pieces, bytes });
    return new JsonText(pieces);
  },
});

/** Adds a tree to the cache. Other requests may have added trees since this one was read. */
function keepTree(wiki_id: string, tree: Tree): void {
  const others = (trees.get(wiki_id) ?? []).filter(({ etag }) => etag !== tree.etag);
  const kept = [tree, ...others].slice(0, KEPT);
  trees.set(
    wiki_id,
    kept,
    kept.reduce((sum, { bytes }) => sum + bytes, 0),
  );
}
