import { hasPermission } from '../../../platform/access/access-rule.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { arrayText, type Sql, sql } from '../../../platform/db/sql.ts';
import type { Index } from '../../search/index/pending.ts';
import { addToCache, cached } from '../../search/query/postings/posting-cache.ts';
import { numberedTree } from '../../search/query/postings/seen-documents.ts';
import { SEES_DRAFTS } from '../links/sees-drafts.ts';
import { IS_FOUND } from '../schema.ts';
import { type CountsRow, type HitCounts, MAX_NAMED } from './schema.ts';
import { type Exception, type Fact, type Facts, type Sight, type Tally, tallyOf } from './tally.ts';

const NAME = 'facts';
const FACT_BYTES = 250;
/** Differs from the version of every tree. */
const NO_VERSION = 'unknown';
/** Counts every page, to guess which details to select. */
const EVERYTHING: Sight = { drafts: true, reads: null };

/** The data of a tally that is selected each time: names of authors, titles of folders, and tags of the pages. */
interface Details {
  authors: Record<string, string> | null;
  folders: Record<string, string> | null;
  /** Null if no page of the wiki has a tag. */
  tags: HitCounts['tags'] | null;
}

interface Answer {
  version: string;
  sight: Sight;
  /** Facts of the uncached pages that are not in the trash, by number. */
  pages: [no: number, page_id: string, author: string, status: Fact['status'], folder: string, acl_no: number][] | null;
  /** Pages that some callers do not find; null if the cached ones are still current. */
  exceptions: [no: number, isTrashed: boolean, status: Fact['status'], acl_no: number][] | null;
  details: Details;
}

/**
 * Counts hits by the cached facts of their pages, if the tree of the wiki still has their version. The statement
 * selects the missing facts, or all facts if the version differs. `numbers`: all hits, best first; the first `of` are
 * counted by author, folder, tag and status. `value` is JSON, which `read` parses.
 */
export function countKnown(many: Statements['many'], index: Index, numbers: readonly number[], of: number) {
  const known = cached<Facts>(index, NAME);
  const named = numbers.slice(0, of);
  const expected = known && tallyOf(numbers, of, known, EVERYTHING);
  return {
    value: answerOf(index, named, known, detailsOf(index, expected, known?.hasTags)),
    async read(value: unknown): Promise<CountsRow> {
      const answer = value as Answer;
      const facts = withAnswer(index, known, named, answer);
      const tally = tallyOf(numbers, of, facts, answer.sight);
      const hasTags = answer.details.tags !== null;
      const isAnswered = facts === known && (facts.hasTags || !hasTags) && isSame(expected?.pages ?? [], tally.pages);
      facts.hasTags = hasTags;
      if (isAnswered) return countsOf(tally, answer.details);
      const [row] = await many<{ details: Details }>(sql`select ${detailsOf(index, tally)} as details`);
      return countsOf(tally, row?.details ?? answer.details);
    },
  };
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((page_id, i) => page_id === other[i]);
}

function countsOf({ total, authors, folders, statuses }: Tally, details: Details): CountsRow {
  return {
    total,
    authors: authors.map(([user_id, count]) => ({ user_id, display_name: details.authors?.[user_id] ?? '', count })),
    folders: folders.map(([path, count]) => ({ path, title: details.folders?.[path] ?? path, count })),
    tags: details.tags ?? [],
    statuses: statuses.map(([status, count]) => ({ status, count })),
  };
}

function exceptionsOf(listed: NonNullable<Answer['exceptions']>): Map<number, Exception> {
  return new Map(listed.map(([no, isTrashed, status, acl_no]) => [no, { isTrashed, status, acl_no }]));
}

/** Caches the facts of an answer. */
function withAnswer(index: Index, known: Facts | undefined, named: readonly number[], answer: Answer): Facts {
  const { version, exceptions } = answer;
  const facts =
    known?.version === version
      ? known
      : {
          version,
          pages: new Map<number, Fact | undefined>(),
          exceptions: exceptionsOf(exceptions ?? []),
          hasTags: false,
        };
  const unknown = named.filter((no) => !facts.pages.has(no));
  if (unknown.length === 0) return facts;
  for (const no of unknown) facts.pages.set(no, undefined);
  for (const [no, page_id, author, status, folder, acl_no] of answer.pages ?? []) {
    facts.pages.set(no, { page_id, author, status, folder, acl_no });
  }
  addToCache(index, NAME, facts, FACT_BYTES * (facts.pages.size + facts.exceptions.size));
  return facts;
}

function answerOf({ wiki_id }: Index, named: readonly number[], known: Facts | undefined, details: Sql): Sql {
  const version = known?.version ?? NO_VERSION;
  const unknown = named.filter((no) => !known?.pages.has(no));
  return sql`(
    select json_build_object('version', w.version, 'details', ${details},
      'sight', json_build_object('drafts', ${SEES_DRAFTS}, 'reads', case when restricts() then own_reads()::text end),
      'pages', (
        select json_agg(json_build_array(f.document_no, f.page_id, f.created_by, f.status, f.folder, f.acl_no))
        from page_facts(${wiki_id}, case when w.version = ${version} then ${arrayText(unknown)} else ${arrayText(named)} end::int[]) f),
      'exceptions', case when w.version <> ${version} then (
        select json_agg(json_build_array(h.document_no, h.is_trashed, h.status, h.acl_no))
        from pages_not_open(${wiki_id}) h where h.document_no is not null) end)
    from (select ${numberedTree(wiki_id)} as version from wikis w where w.wiki_id = ${wiki_id}) w)`;
}

function detailsOf({ wiki_id }: Index, tally: Tally | undefined, hasTags = true): Sql {
  const { authors = [], folders = [], pages = [] } = tally ?? {};
  return sql`json_build_object(
    'authors', (
      select json_object_agg(u.user_id, u.display_name) from users u
      where u.user_id = any (${authors.map(([user_id]) => user_id)}::text[]) and ${hasPermission('members:read')}),
    'folders', (
      select json_object_agg(p.path, p.title) from unnest(${folders.map(([path]) => path)}::text[]) f (path)
      cross join lateral (
        select p.path, p.title from pages p where p.wiki_id = ${wiki_id} and p.path = f.path and ${IS_FOUND} limit 1) p),
    'tags', case when (
      select true from page_tags g where g.wiki_id = ${wiki_id} order by g.wiki_id, g.tag_key, g.page_id limit 1) then coalesce((
      select json_agg(t) from (
        select min(g.tag) as tag, count(*)::int as count
        from unnest(${hasTags ? pages : []}::text[]) c (page_id)
        cross join lateral (
          select g.tag, g.tag_key from page_tags g where g.wiki_id = ${wiki_id} and g.page_id = c.page_id offset 0) g
        group by g.tag_key order by 2 desc, g.tag_key limit ${MAX_NAMED}) t), '[]') end)`;
}
