import { termOf } from '@ibid/markdown/analysis/tokenize.ts';
import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { findTerms } from '../../search/query/find-words.ts';
import { type Hits, searchIndex } from '../../search/query/search.ts';
import {
  CORRECTED_HEADER,
  CUT_HEADER,
  correctedHeader,
  cutHeader,
  SEARCH_ORDER,
} from '../../search/query/search-parameters.ts';
import { examplePage } from '../schema.ts';
import { PAGE_SEARCH, readPageSearch, withPassages } from './find-pages.ts';
import type { HitRow } from './known-texts.ts';
import { PageHit } from './schema.ts';

export const exampleHits: PageHit[] = [
  {
    ...examplePage,
    score: 0.72,
    snippet: 'How to <mark>install</mark> Acme.',
    heading: 'Setup',
    anchor: 'h-setup',
  },
];

export const searchPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/search',
  summary: 'Search pages',
  description:
    'Best first: pages that contain any of the words and match all filters. A query without words, such as ' +
    '`author:ada`, lists all pages that match, most recently changed first.',
  access: onWiki('pages:read'),
  canWait: true,
  isHeavy: true,
  limit: 'search',
  params: WikiParams,
  query: Type.Object(PAGE_SEARCH),
  paging: SEARCH_ORDER,
  replyHeaders: { ...CUT_HEADER, ...CORRECTED_HEADER },
  reply: Type.Array(PageHit),
  example: { reply: exampleHits },
  run: async ({ params: { wiki_id }, query, paging, credential, many, setHeaders }) => {
    setHeaders(cutHeader(query.query));
    const search = readPageSearch(wiki_id, query, paging, credential);
    const { index, parsed, part, shown, show, complete } = search;
    const hits = await searchIndex<HitRow>(many, index, parsed, part, shown, show, complete);
    setHeaders(correctedHeader(query.query, visibleCorrections(hits)));
    return withPassages(many, search, hits);
  },
});

/**
 * Returns the corrections whose word occurs in a hit: words of the index may come from pages that are hidden from the
 * caller.
 */
function visibleCorrections({ rows, mistyped }: Hits<HitRow>): ReadonlyMap<string, string> {
  const isShown = (word: string) =>
    rows.some(({ title, text }) => findTerms(`${title}\n${text}`, new Set([termOf(word)])).length > 0);
  return new Map([...mistyped].filter(([, word]) => isShown(word)));
}
