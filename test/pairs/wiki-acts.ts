import { runRecordJob } from '../../src/platform/jobs/run-record-job.ts';
import { ingestJob } from '../../src/sources/ingest/ingest.job.ts';
import { importJob } from '../../src/sources/transfer/import/import.job.ts';
import { zipped } from '../archives.ts';
import type { Act } from './run-pairs.ts';
import { runJob, type Stage } from './stage.ts';

const page = ({ wiki_id, ids }: Stage, name: string, rest = '') => `/v1/wikis/${wiki_id}/pages/${ids[name]}${rest}`;
const wiki = ({ wiki_id }: Stage, rest = '') => `/v1/wikis/${wiki_id}${rest}`;
const json = (body: unknown) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const ARCHIVE = await zipped([['x.md', '# X\n']]);

/** Runs a started job of a wiki, as a worker does. */
function runBegun(
  { serviceDb, services }: Stage,
  definition: Parameters<typeof runRecordJob>[0],
  job: { wiki_id: string; job_id: string | undefined; upload_id: string | null | undefined; kind: string },
): Promise<string> {
  const { signal } = new AbortController();
  return runRecordJob(definition, {
    db: serviceDb.in({ who: 'job', path: { wiki_id: job.wiki_id } }),
    job: {
      ...job,
      job_id: job.job_id ?? '',
      upload_id: job.upload_id ?? null,
      attempt: 1,
      failures: 1,
      acts_for: null,
    },
    services: () => services,
    log: services.log,
    stopping: signal,
    lost: signal,
  });
}

const ingest: Act = (s) =>
  runBegun(s, ingestJob, { wiki_id: s.wiki_id, job_id: s.ids.job, upload_id: s.ids.running, kind: 'ingest' });

/** Writes of pages and of records that belong to pages. */
export const PAGE_ACTS: Record<string, Act> = {
  'create at the root': (s) => s.owner.post(wiki(s, '/pages'), { title: 'Missing', markdown: '[[Deep]] [t](bin)' }),
  'create below': (s) =>
    s.owner.post(wiki(s, '/pages'), { title: 'Child', markdown: '[[Other]]', parent_page_id: s.ids.below }),
  'create where one was': (s) => s.owner.post(wiki(s, '/pages'), { title: 'Bin', slug: 'bin', markdown: '[[Top]]' }),
  'edit the text below': (s) =>
    s.owner.patch(page(s, 'below'), { markdown: 'New text. [[New]] [b](../bin)', base_revision: 1 }),
  'edit the text of a leaf': (s) => s.people.member.patch(page(s, 'deep'), { markdown: '#other', base_revision: 1 }),
  'edit the text at the top': (s) =>
    s.people.member.patch(page(s, 'top'), { markdown: '[[Below]] [x](missing) and', base_revision: 1 }),
  'link to what is missing': (s) =>
    s.people.member.patch(page(s, 'other'), { markdown: '[m](missing) [[Missing]]', base_revision: 2 }),
  'edit a title': (s) => s.owner.patch(page(s, 'below'), { title: 'New', base_revision: 1 }),
  'move to the root': (s) => s.owner.patch(page(s, 'below'), { parent_page_id: '' }),
  'move below the top': (s) => s.people.member.patch(page(s, 'other'), { parent_page_id: s.ids.top }),
  'move into a leaf': (s) => s.people.member.patch(page(s, 'top'), { parent_page_id: s.ids.other }),
  'change the slug at the top': (s) => s.owner.patch(page(s, 'top'), { slug: 'high' }),
  'change a slug to a missing one': (s) => s.people.member.patch(page(s, 'other'), { slug: 'missing' }),
  'change a status': (s) => s.owner.patch(page(s, 'below'), { status: 'draft' }),
  'change a position': (s) => s.owner.patch(page(s, 'other'), { position: 0 }),
  'trash the top': (s) => s.owner.send('DELETE', page(s, 'top')),
  'trash what is below': (s) => s.people.member.send('DELETE', page(s, 'below')),
  'trash a leaf': (s) => s.people.member.send('DELETE', page(s, 'deep')),
  'trash what is linked': (s) => s.people.member.send('DELETE', page(s, 'other')),
  'trash a compiled page': (s) => s.owner.send('DELETE', page(s, 'a')),
  'restore from the trash': (s) => s.owner.post(page(s, 'bin', '/restore')),
  'restore what is old': (s) => s.owner.post(page(s, 'oldTrash', '/restore')),
  'restore a revision': (s) => s.owner.post(page(s, 'b', '/revisions/1/restore'), {}),
  'edit a compiled page': (s) => s.owner.patch(page(s, 'a'), { markdown: 'Text by hand.', base_revision: 1 }),
  'edit a gone page': (s) => s.owner.patch(page(s, 'd'), { markdown: 'Text by hand.', base_revision: 1 }),
  'keep a gone page': (s) => s.owner.post(page(s, 'd', '/keep')),
  'keep it, too': (s) => s.people.member.post(page(s, 'd', '/keep')),
  'delete a source': (s) => s.owner.send('DELETE', wiki(s, `/sources/${s.ids['source guide/a.md']}`)),
  'delete it, too': (s) => s.people.member.send('DELETE', wiki(s, `/sources/${s.ids['source guide/a.md']}`)),
  'delete another source': (s) => s.owner.send('DELETE', wiki(s, `/sources/${s.ids['source guide/d.md']}`)),
  attach: (s) => {
    const body = new FormData();
    body.append('file', new Blob(['text']), 'n.txt');
    return s.owner.send('POST', page(s, 'oldTrash', '/attachments'), { body });
  },
  'attach to a page': (s) => {
    const body = new FormData();
    body.append('file', new Blob(['text']), 'n.txt');
    return s.owner.send('POST', page(s, 'deep', '/attachments'), { body });
  },
  'delete an attachment': (s) => s.owner.send('DELETE', wiki(s, `/attachments/${s.ids.attachment}`)),
  star: (s) => s.people.member.send('PUT', wiki(s, `/starred-pages/${s.ids.below}`)),
  'remove a star': (s) => s.owner.send('DELETE', wiki(s, `/starred-pages/${s.ids.below}`)),
  'add a template': (s) => s.owner.send('PUT', wiki(s, `/templates/${s.ids.below}`)),
  'remove a template': (s) => s.owner.send('DELETE', wiki(s, `/templates/${s.ids.deep}`)),
  'create from a template': (s) =>
    s.owner.post(wiki(s, `/templates/${s.ids.deep}/pages`), { title: 'Made', parent_page_id: s.ids.below }),
  autosave: (s) =>
    s.owner.send(
      'PUT',
      wiki(s, '/autosaves/unsaved-text-of-one'),
      json({ page_id: s.ids.below, title: 'T', markdown: 'x' }),
    ),
  'discard what is kept': (s) => s.owner.send('DELETE', wiki(s, '/autosaves/kept-text-of-the-owner')),
  'replace what is kept': (s) =>
    s.owner.send(
      'PUT',
      wiki(s, '/autosaves/kept-text-of-the-owner'),
      json({ page_id: s.ids.deep, title: 'T', markdown: 'y' }),
    ),
  'save a search': (s) =>
    s.owner.send('PUT', wiki(s, '/saved-searches/search-of-the-owner'), json({ name: 'One', query: 'one' })),
  'delete a search': (s) => s.owner.send('DELETE', wiki(s, '/saved-searches/search-of-the-owner')),
  'choose the home page': (s) => s.owner.patch(wiki(s, '/settings'), { home_page_id: s.ids.top }),
  'rename the wiki': (s) => s.owner.patch(wiki(s), { title: 'Renamed' }),
  'delete the wiki': (s) => s.owner.send('DELETE', wiki(s)),
  'purge the trash': (s) => runJob(s, 'purge-trash', { wiki_id: s.wiki_id }),
  'purge revisions': (s) => runJob(s, 'purge-revisions', { wiki_id: s.wiki_id }),
  'hold everything': (s) => s.owner.post(`/v1/workspaces/${s.owner.workspace_id}/legal-hold`, { reason: 'A case.' }),
  ingest,
};

export const UPLOAD_ACTS: Record<string, Act> = {
  ingest,
  upload: (s) => {
    const body = new FormData();
    body.append('files', new Blob(['# A\n']), 'guide/a.md');
    return s.owner.send('POST', wiki(s, '/uploads'), { body });
  },
  'cancel the upload': (s) => s.owner.post(wiki(s, `/uploads/${s.ids.running}/cancel`)),
  'cancel the job': (s) => s.people.member.post(wiki(s, `/jobs/${s.ids.job}/cancel`)),
  'retry an upload': (s) => s.owner.post(wiki(s, `/uploads/${s.ids.failed}/retry`)),
  'retry it, too': (s) => s.people.member.post(wiki(s, `/uploads/${s.ids.failed}/retry`)),
  'send bytes': (s) =>
    s.owner.send('PATCH', s.ids.file ?? '', {
      headers: { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
      body: '# Sent\n',
    }),
  'send a part': (s) =>
    s.owner.send('PATCH', s.ids.file ?? '', {
      headers: { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
      body: '# S',
    }),
  'send wrong bytes': (s) =>
    s.people.member.send('PATCH', s.ids.file ?? '', {
      headers: { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
      body: '# Mist\n',
    }),
  'complete what lacks bytes': (s) => s.owner.post(wiki(s, `/uploads/${s.ids.uploading}/complete`)),
  'complete an upload': (s) => s.owner.post(wiki(s, `/uploads/${s.ids.whole}/complete`)),
  'complete it, too': (s) => s.people.member.post(wiki(s, `/uploads/${s.ids.whole}/complete`)),
  'cancel what is sent': (s) => s.owner.post(wiki(s, `/uploads/${s.ids.uploading}/cancel`)),
  'cancel what is whole': (s) => s.owner.post(wiki(s, `/uploads/${s.ids.whole}/cancel`)),
  'expire uploads': (s) => runJob(s, 'expire-uploads', { wiki_id: s.wiki_id }),
  export: (s) => s.owner.post(wiki(s, '/exports')),
  import: (s) => {
    const body = new FormData();
    body.append('file', new Blob([ARCHIVE as Uint8Array<ArrayBuffer>]), 'x.zip');
    return s.owner.send('POST', wiki(s, '/imports'), { body });
  },
  'delete a source': (s) => s.owner.send('DELETE', wiki(s, `/sources/${s.ids['source guide/a.md']}`)),
  'delete the wiki': (s) => s.owner.send('DELETE', wiki(s)),
  'remove a deleted wiki': (s) => runJob(s, 'remove-deleted-wiki', { wiki_id: s.ids.deletedWiki ?? '' }),
  'hold everything': (s) => s.owner.post(`/v1/workspaces/${s.owner.workspace_id}/legal-hold`, { reason: 'A case.' }),
};

const second = ({ ids }: Stage, rest = '') => `/v1/wikis/${ids.secondWiki}${rest}`;

/** Writes of an empty wiki into which the archive of another wiki is imported. */
export const IMPORT_ACTS: Record<string, Act> = {
  'run the import': (s) =>
    runBegun(s, importJob, { wiki_id: s.ids.secondWiki ?? '', job_id: s.ids.import, upload_id: null, kind: 'import' }),
  'create a page': (s) => s.owner.post(second(s, '/pages'), { title: 'Top', markdown: '[[Other]]' }),
  'cancel the import': (s) => s.owner.post(second(s, `/jobs/${s.ids.import}/cancel`)),
  upload: (s) => {
    const body = new FormData();
    body.append('files', new Blob(['# A\n']), 'guide/a.md');
    return s.owner.send('POST', second(s, '/uploads'), { body });
  },
  'choose the home page': (s) => s.owner.patch(second(s, '/settings'), { site_root: '/x/' }),
  'delete the wiki': (s) => s.owner.send('DELETE', second(s)),
  'hold everything': (s) => s.owner.post(`/v1/workspaces/${s.owner.workspace_id}/legal-hold`, { reason: 'A case.' }),
};

const merge: Act = (s) => runJob(s, 'merge-search-index', { wiki_id: s.wiki_id });

/** Writes that change search results. Each is merged at the end. */
export const SEARCH_ACTS: Record<string, Act> = {
  merge,
  ...Object.fromEntries(
    [
      'create at the root',
      'edit the text below',
      'edit a title',
      'edit the text of a leaf',
      'purge the trash',
      'restore what is old',
      'delete a source',
      'delete the wiki',
      'ingest',
    ].map((name) => [name, PAGE_ACTS[name] as Act]),
  ),
};

/** Merges until no postings are pending: in a small wiki, a merge may queue pages that the next one indexes again. */
export async function mergeAll(stage: Stage): Promise<void> {
  for (let run = 0; run < 4; run += 1) await merge(stage);
}
