import { sql } from '../../../src/platform/db/sql.ts';
import { impactsOf, type Pivots } from '../../../src/wiki/search/index/impacts.ts';
import type { Index } from '../../../src/wiki/search/index/pending.ts';
import { readPostings } from '../../../src/wiki/search/index/postings.ts';
import { mergeTerms, readSegments, readTerms } from '../../../src/wiki/search/index/segments.ts';
import { type Pending, structureColumns, targetStateOf } from '../../../src/wiki/search/index/take-pending.ts';
import type { World } from '../../world.ts';

const PAGES_AT_ONCE = 500;

/** Per page: a digest of all its postings, independent of their order, and the number of postings. */
type Digests = Map<string, { digest: number; postings: number }>;

/** Hashes a term and its impact with FNV-1a. */
function digestOf(term: string, impact: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < term.length; i += 1) hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193);
  return Math.imul(hash ^ impact, 0x01000193) >>> 0;
}

function add(digests: Digests, page_id: string, term: string, impact: number): void {
  const own = digests.get(page_id) ?? { digest: 0, postings: 0 };
  own.digest = (own.digest + digestOf(term, impact)) % 2 ** 48;
  own.postings += 1;
  digests.set(page_id, own);
}

/** Reads the digests of a wiki's pages from the index. */
async function readDigests({ db }: World, index: Index): Promise<Digests> {
  const rows = await db.query<{ document_no: number; document_id: string }>(sql`
    select document_no, document_id from search_documents where wiki_id = ${index.wiki_id} and kind = ${index.kind}`);
  const ids = new Map(rows.map(({ document_no, document_id }) => [document_no, document_id]));
  const digests: Digests = new Map(rows.map(({ document_id }) => [document_id, { digest: 0, postings: 0 }]));
  const segments = await readSegments(db.query, index);
  for await (const some of mergeTerms(segments.map((one) => readTerms(db.query, index, one)))) {
    for (const [term, { bytes, from, to }] of some) {
      const { numbers, impacts } = readPostings(bytes, from, to);
      for (const [i, number] of numbers.entries())
        add(digests, ids.get(number) ?? `document ${number}`, term, impacts[i] ?? 0);
    }
  }
  return digests;
}

/** Computes the digests that a rebuild from the stored texts would give, with the averages of the current index. */
async function computeDigests({ db }: World, { wiki_id, kind }: Index): Promise<Digests> {
  const [pivots] = await db.query<Pivots>(sql`
    select pivot_title, pivot_body from search_wikis where wiki_id = ${wiki_id} and kind = ${kind}`);
  const digests: Digests = new Map();
  for (let after: string | undefined = ''; after !== undefined && pivots; ) {
    const pages: Pending[] = await db.query<Pending>(sql`
      select p.page_id as document_id, p.revision as version, null as title_terms, null as body_terms, null as vocabulary,
        p.title, coalesce(t.text, '') as text, ${structureColumns('page')}
      from pages p
      left join page_texts t on t.wiki_id = p.wiki_id and t.page_id = p.page_id
      left join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
      where p.wiki_id = ${wiki_id} and p.page_id > ${after} order by p.page_id limit ${PAGES_AT_ONCE}`);
    for (const page of pages) {
      digests.set(page.document_id, { digest: 0, postings: 0 });
      for (const [term, impact] of impactsOf(targetStateOf(page).terms, pivots))
        add(digests, page.document_id, term, impact);
    }
    after = pages.at(-1)?.document_id;
  }
  return digests;
}

/** Returns the pages whose postings differ from a rebuild, each with its actual and expected digest. */
export async function compareIndex(
  world: World,
  wiki_id: string,
): Promise<{ pages: number; postings: number; wrong: string[] }> {
  const index: Index = { wiki_id, kind: 'page' };
  const [found, expected] = [await readDigests(world, index), await computeDigests(world, index)];
  const wrong = [...new Set([...found.keys(), ...expected.keys()])].flatMap((id) => {
    const [has, should] = [found.get(id), expected.get(id)];
    return has?.digest === should?.digest && has?.postings === should?.postings
      ? []
      : `${id}: ${JSON.stringify(has)} in place of ${JSON.stringify(should)}`;
  });
  const postings = [...expected.values()].reduce((sum, one) => sum + one.postings, 0);
  return { pages: expected.size, postings, wrong };
}
