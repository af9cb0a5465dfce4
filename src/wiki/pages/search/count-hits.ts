import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { subjectOf } from '../../../platform/access/credential.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { resolvedFor } from '../../search/query/search.ts';
import { CUT_HEADER, cutHeader, readSearch, SEARCHED } from '../../search/query/search-parameters.ts';
import { countedAttempts, countFound } from './count-found.ts';
import { PAGE_FILTERS } from './find-pages.ts';
import { shownPages } from './page-filters.ts';
import { HitCounts, MAX_COUNTED } from './schema.ts';

/** Number of best hits to count by author, folder, tag and status. */
export const COUNTED_OF = Type.Integer({
  minimum: 1,
  maximum: MAX_COUNTED,
  default: MAX_COUNTED,
  description: 'Number of best hits counted by author, folder, tag and status. The total includes all hits.',
});

export const exampleCounts: HitCounts = {
  total: 12,
  is_exact: true,
  authors: [{ user_id: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8', display_name: 'Ada Lovelace', count: 12 }],
  folders: [{ path: 'guide', title: 'Guide', count: 9 }],
  tags: [{ tag: 'install', count: 3 }],
  statuses: [{ status: 'published', count: 12 }],
};

/** A separate endpoint, because a search returns a plain array. */
export const countHits = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/search/facets',
  summary: 'Count search results',
  description:
    'Number of pages that a search finds: in total, and by author, top-level page, ' +
    'tag and status, to narrow the search. Takes the parameters of the search.',
  access: onWiki('pages:read'),
  canWait: true,
  isHeavy: true,
  limit: 'search',
  params: WikiParams,
  query: Type.Object({ ...SEARCHED, ...PAGE_FILTERS, of: COUNTED_OF }),
  replyHeaders: CUT_HEADER,
  reply: HitCounts,
  example: { reply: exampleCounts },
  run: async ({ params: { wiki_id }, query, credential, many, setHeaders }) => {
    setHeaders(cutHeader(query.query));
    const parsed = readSearch(query);
    const shown = shownPages(wiki_id, parsed.filters);
    const index = { wiki_id, kind: 'page' } as const;
    return resolvedFor(many, index, parsed, subjectOf(credential).join(' '), (resolved) =>
      countFound(many, index, resolved, shown, query.of, countedAttempts(many, index, parsed, resolved, shown)),
    );
  },
});
