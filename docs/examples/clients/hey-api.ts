import { client } from './hey-api/client.gen.js';
import {
  announceUpload,
  editPage,
  getUpload,
  listPages,
  onboardCaller,
  searchPages,
  uploadFiles,
} from './hey-api/sdk.gen.js';
import type { Page, Upload } from './hey-api/types.gen.js';

/** Uploads, lists, searches and edits with the client of @hey-api/openapi-ts. */
const [baseUrl = '', token = ''] = process.argv.slice(2);
client.setConfig({ baseUrl, auth: token });

function dataOf<T>({ data, error }: { data: T | undefined; error: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const { overview } = dataOf(await onboardCaller());
const wiki_id = overview.wikis[0]?.wiki_id ?? '';
const path = { wiki_id };

let upload: Upload = dataOf(
  await uploadFiles({
    path,
    body: { files: [new File(['# Tea\n\nGreen tea takes two minutes.\n'], 'tea.md')], mode: 'add' },
  }),
);
while (upload.status === 'queued') upload = dataOf(await getUpload({ path: { wiki_id, upload_id: upload.upload_id } }));

const announced = dataOf(await announceUpload({ path, body: { files: [{ filename: 'large.md', byte_size: 5 }] } }));
const pages: Page[] = dataOf(await listPages({ path, query: { limit: 10 } }));
const hits = dataOf(await searchPages({ path, query: { query: '"two minutes"' } }));
const page_id = hits[0]?.page_id ?? '';
const { data: edited } = await editPage({
  path: { wiki_id, page_id },
  body: { base_revision: hits[0]?.revision ?? 0, markdown: '# Tea\n\nGreen tea takes three minutes.\n' },
});
const { error: stale } = await editPage({
  path: { wiki_id, page_id },
  body: { base_revision: 1, markdown: '# Coffee\n' },
});

console.log(
  JSON.stringify({
    status: upload.status,
    announced: announced.files.map(({ filename }) => filename),
    pages: pages.map(({ title }) => title),
    hits: hits.map(({ title }) => title),
    revision: edited?.revision,
    stale: stale?.error,
  }),
);
