import { PREFIX_END } from '@ibid/markdown/analysis/document-terms.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { sql } from '../../../platform/db/sql.ts';
import { entriesOf } from '../index/blocks.ts';
import type { Index } from '../index/pending.ts';

/** Maximum number of blocks of a segment to read per prefix: terms with a common prefix are neighbours. */
const MAX_BLOCKS = 20;

/** Returns the indexed terms that are longer than each prefix and begin with it, at most `most` per prefix. */
export async function termsBeginning(
  many: Statements['many'],
  { wiki_id, kind }: Index,
  texts: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map(texts.map((text) => [text, new Set<string>()]));
  if (texts.length === 0) return new Map();
  const rows = await many<{ text: string; term: string; documents: number; bytes: Buffer }>(sql`
    select t.text, b.term, b.documents, b.bytes
    from unnest(${texts}::text[]) t (text)
    join search_segments s on s.wiki_id = ${wiki_id} and s.kind = ${kind}
    cross join lateral (
      (select b.term, b.documents, b.bytes from search_blocks b
        where b.wiki_id = ${wiki_id} and b.kind = ${kind} and b.segment_id = s.segment_id and b.term < t.text
        order by b.term desc, b.part desc limit 1)
      union all
      (select b.term, b.documents, case when b.documents = 0 then b.bytes end from search_blocks b
        where b.wiki_id = ${wiki_id} and b.kind = ${kind} and b.segment_id = s.segment_id and b.term >= t.text
          and b.term < t.text || ${PREFIX_END} and b.part = 0
        order by b.term limit ${MAX_BLOCKS})
    ) b
    order by b.term`);
  const add = (text: string, term: string) => {
    const terms = found.get(text);
    if (terms && terms.size < most && term !== text && term.startsWith(text)) terms.add(term);
  };
  for (const { text, term, documents, bytes } of rows) {
    if (documents > 0) add(text, term);
    else for (const entry of entriesOf(bytes)) add(text, entry.term);
  }
  return new Map([...found].map(([text, terms]) => [text, [...terms]]));
}
