import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import type { Index } from '../../search/index/pending.ts';
import { candidateDocuments, candidatesCte } from '../../search/query/candidates.ts';
import { completeTitles } from '../../search/query/complete-titles.ts';
import { parseQuery, readableQuery } from '../../search/query/parse-query.ts';
import { resolveQuery } from '../../search/query/resolve-query.ts';
import { searchIndex } from '../../search/query/search.ts';
import { CUT_HEADER, cutHeader, withCorrections } from '../../search/query/search-parameters.ts';
import { IS_FOUND } from '../schema.ts';
import { shownPages } from './page-filters.ts';
import { Suggestion } from './schema.ts';

/** Extra titles, in case some are hidden from the caller. */
const SPARE = 50;

/** Exempt from the quota of searches, because it is called on each keystroke and costs less than reading a page. */
export const suggestPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/suggest',
  summary: 'Suggest pages',
  description:
    'Completions for a query being typed: pages whose titles contain its words; the last word may be unfinished. If no title matches ' +
    'and the wiki does not contain a word, a corrected query is suggested.',
  access: onWiki('pages:read'),
  canWait: true,
  isHeavy: true,
  params: WikiParams,
  query: Type.Object({
    query: Type.String({ minLength: 1, maxLength: 8_192, description: 'The text typed so far.' }),
    limit: Type.Integer({ minimum: 1, maximum: 50, default: 10, description: 'Maximum number of suggestions.' }),
  }),
  replyHeaders: CUT_HEADER,
  reply: Type.Array(Suggestion),
  example: {
    reply: [{ kind: 'page', text: 'Setup', page_id: 'page_01jd8w3v6xf3e8h2k9m4n5p6s1', path: 'guide/setup' }],
  },
  run: async ({ params: { wiki_id }, query: { query: given, limit }, many, setHeaders }) => {
    setHeaders(cutHeader(given));
    const text = readableQuery(given);
    const index = { wiki_id, kind: 'page' } as const;
    const candidates = await completeTitles(many, index, text, limit + SPARE);
    const pages =
      candidates.length === 0
        ? []
        : await many<Suggestion>({
            candidates: candidatesCte(index, candidates),
            result: sql`
              select 'page' as kind, p.title as text, p.page_id, p.path
              from ${candidateDocuments({ wiki_id, kind: 'page' })}
              where ${IS_FOUND}
              order by starts_with(folded(p.title), lower(${text.trim()})) desc, c.score desc, p.page_id limit ${limit}`,
          });
    if (pages.length > 0) return pages;
    const { corrected } = await resolveQuery(many, index, parseQuery(text));
    const shown = new Map<string, string>();
    for (const [word, other] of corrected) if (await isFound(many, index, other)) shown.set(word, other);
    if (shown.size === 0) return [];
    return [{ kind: 'query' as const, text: withCorrections(text, shown), page_id: '', path: '' }];
  },
});

/** Whether a search for a word finds a page: words of the index may come from pages that are hidden from the caller. */
async function isFound(many: Statements['many'], index: Index, word: string): Promise<boolean> {
  // Searched for as a phrase: pages with similar words would prove nothing.
  const query = { ...parseQuery(word), phrases: [[word]], arePhrasesRequired: true, hasOtherWords: false };
  const { rows } = await searchIndex(
    many,
    index,
    query,
    { limit: 1, offset: 0 },
    shownPages(index.wiki_id, []),
    () => ({
      result: sql`
      select p.page_id from ${candidateDocuments(index)}
      where ${IS_FOUND} limit 1`,
    }),
  );
  return rows.length > 0;
}
