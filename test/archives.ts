import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import yazl from 'yazl';
import { until } from './until.ts';
import type { Answer, Client, Owner, World } from './world.ts';

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

export async function newWiki(by: Owner, title = 'Ported'): Promise<string> {
  const { body } = await by.post(`/v1/workspaces/${by.workspace_id}/wikis`, { title });
  return body.wiki_id;
}

/** Waits until a job has ended and returns it. */
export function ended(by: Client, wiki_id: string, job_id: string): Promise<Answer['body']> {
  return until(
    `the job ${job_id} has ended`,
    async () => {
      const { status, body } = await by.get(`/v1/wikis/${wiki_id}/jobs/${job_id}`);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
    ({ finished_at }) => finished_at !== undefined,
  );
}

export async function exported(world: World, by: Client, wiki_id: string): Promise<Buffer> {
  const made = await by.post(`/v1/wikis/${wiki_id}/exports`);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const job = await ended(by, wiki_id, made.body.job_id);
  assert.equal(job.status, 'completed', JSON.stringify(job));
  const response = await fetch(`${world.address}/v1/wikis/${wiki_id}/exports/${job.job_id}/content`, {
    headers: { authorization: `Bearer ${by.token}` },
  });
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer());
}

export function send(by: Client, wiki_id: string, zip: Uint8Array): Promise<Answer> {
  const body = new FormData();
  body.append('file', new Blob([zip as Uint8Array<ArrayBuffer>]), 'archive.zip');
  return by.send('POST', `/v1/wikis/${wiki_id}/imports`, { body });
}

export async function imported(by: Client, wiki_id: string, zip: Uint8Array): Promise<Answer['body']> {
  const made = await send(by, wiki_id, zip);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return ended(by, wiki_id, made.body.job_id);
}

export async function unzipped(zip: Buffer): Promise<Map<string, Buffer>> {
  const opened = await yauzl.fromBufferPromise(zip, { lazyEntries: true });
  const files = new Map<string, Buffer>();
  for await (const entry of opened.eachEntry())
    files.set(entry.fileName, await buffer(await opened.openReadStreamPromise(entry)));
  return files;
}

export async function zipped(files: Iterable<readonly [string, Uint8Array | string]>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [name, content] of files) zip.addBuffer(Buffer.from(content as string), name);
  zip.end();
  return buffer(zip.outputStream);
}
