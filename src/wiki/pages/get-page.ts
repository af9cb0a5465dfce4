import { onWiki } from '../../platform/access/access-rule.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { pageDocument, readPage } from './read-page.ts';
import { exampleFullPage, FullPage, PageParams, pageTag, presentPage } from './schema.ts';

export const getPage = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id',
  summary: 'Get a page',
  description: 'Returns JSON; with Accept, Markdown (text/markdown) or a safe HTML document (text/html).',
  access: onWiki('pages:read'),
  params: PageParams,
  reply: FullPage,
  etag: pageTag,
  representations: { 'text/markdown': (page) => page.markdown, 'text/html': pageDocument },
  example: { reply: exampleFullPage },
  run: (context) => readPage(context, presentPage(context.params)),
});
