import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import yazl from 'yazl';
import type { Api } from './api.ts';
import { shortPages } from './corpus.ts';

const FOLDER = 100;

/**
 * Builds a ZIP of real short pages, repeated as often as needed, in folders of a hundred, each with a link to the next
 * one.
 */
function zipOfPages(pages: number): Promise<Buffer> {
  const texts = Object.values(shortPages());
  const zip = new yazl.ZipFile();
  for (let i = 0; i < pages; i += 1) {
    const text = `${texts[i % texts.length]}\nSee [the next one](page-${(i + 1) % pages}.md).\n`;
    zip.addBuffer(Buffer.from(text), `folder-${Math.floor(i / FOLDER)}/page-${i}.md`);
  }
  zip.end();
  return buffer(zip.outputStream);
}

/** Starts an import of an archive, and returns the id of its job. */
async function startImport(api: Api, wiki_id: string, zip: Buffer): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(zip)]), 'notes.zip');
  return (await api.post(`/v1/wikis/${wiki_id}/imports`, form)).job_id;
}

/** Imports this number of pages. Throws an Error with the job's message if it fails. */
export async function importPages(api: Api, wiki_id: string, pages: number): Promise<void> {
  const job_id = await startImport(api, wiki_id, await zipOfPages(pages));
  for (;;) {
    const job = await api.get(`/v1/wikis/${wiki_id}/jobs/${job_id}`);
    if (job.finished_at && job.status !== 'completed') throw new Error(`the import failed: ${job.error}`);
    if (job.finished_at) return;
    await delay(500);
  }
}
