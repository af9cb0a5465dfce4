import { type Static, Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { PAGING } from '../../platform/core/paging.ts';
import { InputText, WikiParams } from '../../platform/core/records.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { endpoint, NotModified } from '../../platform/http/endpoint.ts';
import { BranchEntry, exampleBranch } from './schema.ts';
import { formOf, taggedTree } from './tree-tag.ts';

/** Lists the branches that are open in a tree; the cost depends on the listed pages, not on the size of the wiki. */
export const listBranches = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/branches',
  summary: 'List the branches around a page',
  description:
    'The children of `page_id`, of each of its ancestors, and of the root. At most `limit` of each, ' +
    'but always including the ancestors of `page_id`. With an `offset` or a cursor, only the children of `page_id`. If `page_id` is not a page, ' +
    'the root is used. Drafts are left out if the caller may not see them; the pages below them are still listed.',
  access: onWiki('pages:read'),
  params: WikiParams,
  query: Type.Object({ ...PAGING, page_id: Type.Optional(InputText({ description: '"" or absent: the root.' })) }),
  paging: {
    keys: { 'p.position': 'integer', 'p.page_id': 'text' },
    counted: (branches, { page_id = '' }) => branches.filter((branch) => branch.parent_page_id === page_id),
  },
  reply: Type.Array(BranchEntry),
  etag: () => '',
  example: { reply: [exampleBranch] },
  run: async ({ params, query: { page_id = '', limit, offset }, paging, known_tags, many, setHeaders }) => {
    const { wiki_id } = params;
    const isWhole = offset === 0 && !paging.after;
    const branches = branchesAround(wiki_id, page_id, { limit, offset, isWhole, seekClause: paging.seekClause });
    // No page is read if the client has the current branches.
    const rows = await many<BranchRow>(sql`
      with tagged as materialized (${taggedTree(wiki_id, FORM, known_tags)})
      select t.tag, t.is_known, b.* from tagged t
      left join (select b.* from (${branches}) b where not (select is_known from tagged)) b on true
      order by b.position, b.page_id`);
    const [first] = rows;
    if (!first) throw notFound();
    setHeaders({ etag: first.tag });
    return first.is_known
      ? new NotModified()
      : rows.filter(isBranch).map(({ tag: _, is_known: __, ...branch }) => branch);
  },
});

const FORM = formOf(BranchEntry);

type Branch = Static<typeof BranchEntry>;
type BranchRow = { tag: string; is_known: boolean } & (Branch | { page_id: null });

function isBranch(row: BranchRow): row is BranchRow & Branch {
  return row.page_id !== null;
}

interface BranchesPart {
  /** Per branch. */
  limit: number;
  offset?: number;
  /** Whether to include the ancestors' branches, or only the children of the page. */
  isWhole?: boolean;
  seekClause?: Sql;
  /** Whether the page may be hidden from the caller; otherwise the root is used for a hidden page. */
  mayBeHidden?: boolean;
}

const columns = sql`p.page_id, p.parent_page_id, p.path, p.title, p.status, p.position, p.trashed_at`;

/**
 * The CTEs `steps` with the ids of a page and its ancestors, including hidden ancestors, and `way` with those pages that
 * the caller sees.
 */
function wayTo(wiki_id: string, page_id: string | Sql, mayBeHidden = false): Sql {
  const page = mayBeHidden
    ? sql`(select ${page_id}::text as page_id) p`
    : sql`(select p.page_id from pages p where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null) p`;
  return sql`
    with steps as materialized (
      select s.step_id from ${page} cross join lateral (
        select p.page_id as step_id union all select a.page_id from ancestors(${wiki_id}, p.page_id) a) s
    ),
    way as (
      select p.* from steps s cross join lateral (
        select ${columns} from pages p
        where p.wiki_id = ${wiki_id} and p.page_id = s.step_id and p.trashed_at is null offset 0) p
    )`;
}

/**
 * Selects rows of BranchEntry for clients that show no tree: a page, its ancestors, siblings and children. Unlike
 * `branchesAround`, omits the siblings of ancestors. `has_children` is always false, which saves a lookup per page.
 */
export function branchesBeside(wiki_id: string, page_id: string | Sql, limit: number): Sql {
  return sql`
    ${wayTo(wiki_id, page_id)}
    select e.page_id, coalesce(e.parent_page_id, '') as parent_page_id, e.path, e.title, e.status, e.position,
      false as has_children
    from (
      select p.* from way p
      union
      (select ${columns} from pages p
        where p.wiki_id = ${wiki_id} and p.parent_page_id is null and p.trashed_at is null
          and exists (select from way w where w.page_id = ${page_id} and w.parent_page_id is null)
        order by p.parent_page_id, p.position, p.page_id limit ${limit})
      union
      select c.* from (
        select ${page_id} as page_id
        union all
        select w.parent_page_id from way w where w.page_id = ${page_id} and w.parent_page_id is not null) w
      cross join lateral (
        select ${columns} from pages p
        where p.wiki_id = ${wiki_id} and p.parent_page_id = w.page_id and p.trashed_at is null
        order by p.parent_page_id, p.position, p.page_id limit ${limit}) c
    ) e
    order by e.position, e.page_id`;
}

/** Selects rows of BranchEntry for a page and its children. */
export function pageAndChildren(wiki_id: string, page_id: string | Sql, limit: number): Sql {
  return sql`
    select e.page_id, coalesce(e.parent_page_id, '') as parent_page_id, e.path, e.title, e.status, e.position,
      ${hasChildren(wiki_id)} as has_children
    from (
      select ${columns} from pages p where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null
      union all
      (select ${columns} from pages p
        where p.wiki_id = ${wiki_id} and p.parent_page_id = ${page_id} and p.trashed_at is null
        order by p.parent_page_id, p.position, p.page_id limit ${limit})
    ) e
    order by e.position, e.page_id`;
}

/** Takes one index lookup per entry `e`. */
function hasChildren(wiki_id: string): Sql {
  return sql`coalesce((
        select true from pages p where p.wiki_id = ${wiki_id} and p.parent_page_id = e.page_id and p.trashed_at is null
        order by p.position, p.page_id limit 1
      ), false)`;
}

/** Selects the rows of BranchEntry around a page, in the order of the tree. */
export function branchesAround(
  wiki_id: string,
  page_id: string | Sql,
  { limit, offset = 0, isWhole = true, seekClause = raw(''), mayBeHidden }: BranchesPart,
): Sql {
  const whole = sql`${isWhole}::boolean`;
  // Every step walks an index, whose columns the "order by" names in full. Otherwise, if pages have many children, the
  // planner would read all pages until it finds a child, and most pages have no children.
  return sql`
    ${wayTo(wiki_id, page_id, mayBeHidden)}
    select e.page_id, coalesce(e.parent_page_id, '') as parent_page_id, e.path, e.title, e.status, e.position,
      ${hasChildren(wiki_id)} as has_children
    from (
      select p.* from way p where ${whole}
      union
      (select ${columns} from pages p
        where p.wiki_id = ${wiki_id} and p.parent_page_id is null and p.trashed_at is null and (${whole} or ${page_id} = '')
          ${seekClause}
        order by p.parent_page_id, p.position, p.page_id limit ${limit} offset ${offset})
      union
      select c.* from steps w cross join lateral (
        select ${columns} from pages p
        where p.wiki_id = ${wiki_id} and p.parent_page_id = w.step_id and p.trashed_at is null
          and (${whole} or w.step_id = ${page_id}) ${seekClause}
        order by p.parent_page_id, p.position, p.page_id limit ${limit} offset ${offset}) c
    ) e
    order by e.position, e.page_id`;
}
