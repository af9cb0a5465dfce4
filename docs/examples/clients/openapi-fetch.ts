import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

/** Uploads, lists, searches and edits with openapi-fetch and the types of openapi-typescript. */
const [baseUrl = '', token = ''] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

function dataOf<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const { overview } = dataOf(await api.POST('/v1/onboarding'));
const wiki_id = overview.wikis[0]?.wiki_id ?? '';
const path = { wiki_id };

let upload: components['schemas']['Upload'] = dataOf(
  await api.POST('/v1/wikis/{wiki_id}/uploads', {
    params: { path },
    body: { files: [new File(['# Tea\n\nGreen tea takes two minutes.\n'], 'tea.md')], mode: 'add' },
    bodySerializer: ({ files }) => {
      const form = new FormData();
      for (const file of files) form.append('files', file);
      return form;
    },
  }),
);
while (upload.status === 'queued')
  upload = dataOf(
    await api.GET('/v1/wikis/{wiki_id}/uploads/{upload_id}', {
      params: { path: { wiki_id, upload_id: upload.upload_id } },
    }),
  );

const announced = dataOf(
  await api.POST('/v1/wikis/{wiki_id}/uploads/announce', {
    params: { path },
    body: { files: [{ filename: 'large.md', byte_size: 5 }] },
  }),
);
const pages: components['schemas']['Page'][] = dataOf(
  await api.GET('/v1/wikis/{wiki_id}/pages', { params: { path, query: { limit: 10 } } }),
);
const hits = dataOf(
  await api.GET('/v1/wikis/{wiki_id}/pages/search', { params: { path, query: { query: '"two minutes"' } } }),
);
const page_id = hits[0]?.page_id ?? '';
const { data: edited } = await api.PATCH('/v1/wikis/{wiki_id}/pages/{page_id}', {
  params: { path: { wiki_id, page_id } },
  body: { base_revision: hits[0]?.revision ?? 0, markdown: '# Tea\n\nGreen tea takes three minutes.\n' },
});
const { error: stale } = await api.PATCH('/v1/wikis/{wiki_id}/pages/{page_id}', {
  params: { path: { wiki_id, page_id } },
  body: { base_revision: 1, markdown: '# Coffee\n' },
});
const told = stale !== undefined && 'error' in stale ? stale.error : '';

console.log(
  JSON.stringify({
    status: upload.status,
    announced: announced.files.map(({ filename }) => filename),
    pages: pages.map(({ title }) => title),
    hits: hits.map(({ title }) => title),
    revision: edited?.revision,
    stale: told,
  }),
);
