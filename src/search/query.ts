import { Type } from 'typebox';
import { raw, type Sql, sql } from '../db/sql.ts';
import { PAGING } from '../http/paging.ts';

/** `query`, `limit` and `offset` of both searches. Any text is a valid query. */
export const SearchQuery = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 1_024, description: 'Words; "…" is a phrase, -word excludes.' }),
  ...PAGING,
});

/** What a query asks for. Everything that is no phrase and no exclusion is words, of which any may match. */
export interface ParsedQuery {
  words: string;
  phrases: string[];
  excluded: string[];
}

export function parseQuery(text: string): ParsedQuery {
  const phrases: string[] = [];
  const rest = text.replace(/"([^"]*)"/g, (_, phrase: string) => {
    phrases.push(phrase);
    return ' ';
  });
  const excluded: string[] = [];
  const words = rest.split(/\s+/u).filter((word) => {
    if (!/^-[^\s-]/u.test(word)) return true;
    excluded.push(word.slice(1));
    return false;
  });
  return { words: [...words, ...phrases].join(' '), phrases, excluded };
}

/**
 * The steps of a search over `<table>_texts`: `hits` with id, score, and what matched, ordered and cut. Words are OR-ed
 * and ranked, so that one word too many never empties the answer; a query of stop words alone looks at the titles.
 * `hidden` is a condition on a row `p` of pages that is not to be found. `table` is a name of the program's own.
 */
export function searchSteps(
  table: 'page' | 'source',
  wikiId: string,
  { query, limit, offset }: { query: string; limit: number; offset: number },
  hidden?: Sql,
): { asked: Sql; hits: Sql } {
  const { words, phrases, excluded } = parseQuery(query);
  const id = raw(`${table}_id`);
  const texts = raw(`${table}_texts`);
  // Looked up once for each search, in an index of pages that not everybody finds.
  const isShown = (row: string) =>
    hidden === undefined
      ? raw('true')
      : sql`${raw(row)}.page_id not in (
          select p.page_id from pages p
          where p.wiki_id = ${wikiId} and (p.trashed_at is not null or p.status <> 'published') and ${hidden})`;
  return {
    // plainto_tsquery takes any text; its lexemes hold no spaces, so only the operators are replaced.
    asked: sql`
      select replace(plainto_tsquery('english', ${words})::text, $$' & '$$, $$' | '$$)::tsquery as words,
        lower(btrim(${words}))::text as title`,
    hits: sql`
      select id, score from (
        select t.${id} as id, ts_rank('{0, 0, 0.4, 1}', t.search, a.words)::float8 as score
        from asked a join ${texts} t on t.search @@ a.words
        where t.wiki_id = ${wikiId} and numnode(a.words) > 0 and ${isShown('t')}
          and not exists (
            select from unnest(${phrases}::text[]) phrase
            where numnode(phraseto_tsquery('english', phrase)) > 0 and not t.search @@ phraseto_tsquery('english', phrase))
          and not exists (
            select from unnest(${excluded}::text[]) word where t.search @@ plainto_tsquery('english', word))
        union all
        select s.${id}, 1 from asked a join ${raw(`${table}s`)} s on position(a.title in lower(s.title)) > 0
        where s.wiki_id = ${wikiId} and numnode(a.words) = 0 and a.title <> '' and ${isShown('s')}
      ) found
      order by score desc, id limit ${limit} offset ${offset}`,
  };
}
