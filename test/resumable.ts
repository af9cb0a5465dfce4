import { createHash } from 'node:crypto';
import { Upload } from 'tus-js-client';
import type { Answer, Client } from './world.ts';

/** The content of an announced file, and its URL. */
export interface SentFile {
  filename: string;
  content: Buffer;
  file_id: string;
  /** The path of the upload_url. */
  path: string;
}

export interface Announced {
  upload_id: string;
  path: string;
  files: SentFile[];
}

export function sha256Of(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Announces files by name and content, with their hashes. */
export async function announce(client: Client, wiki_id: string, contents: Record<string, Buffer>): Promise<Announced> {
  const files = Object.entries(contents).map(([filename, content]) => ({
    filename,
    byte_size: content.length,
    sha256: sha256Of(content),
  }));
  const { status, body } = await client.post(`/v1/wikis/${wiki_id}/uploads`, { files });
  if (status !== 201) throw new Error(`an upload was not announced: ${JSON.stringify(body)}`);
  return {
    upload_id: body.upload.upload_id,
    path: `/v1/wikis/${wiki_id}/uploads/${body.upload.upload_id}`,
    files: body.files.map((file: { filename: string; file_id: string; upload_url: string }, i: number) => ({
      filename: file.filename,
      content: Object.values(contents)[i],
      file_id: file.file_id,
      path: new URL(file.upload_url).pathname,
    })),
  };
}

/** Sends one PATCH of tus, without extensions. */
export function patch(
  client: Client,
  path: string,
  offset: number | string,
  bytes: Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return client.send('PATCH', path, {
    headers: {
      'tus-resumable': '1.0.0',
      'upload-offset': String(offset),
      'content-type': 'application/offset+octet-stream',
      ...headers,
    },
    body: new Uint8Array(bytes),
  });
}

/** Returns the number of bytes that the service has received. */
export async function offsetOf(client: Client, path: string): Promise<number> {
  const { status, headers } = await client.send('HEAD', path, { headers: { 'tus-resumable': '1.0.0' } });
  if (status !== 200) throw new Error(`HEAD answered ${status}`);
  return Number(headers.get('upload-offset'));
}

/** Sends a file with tus-js-client, which resumes at the offset that the service reports. */
export function sendFile(
  address: string,
  token: string | undefined,
  file: SentFile,
  options: { chunkSize?: number; retryDelays?: number[] } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    new Upload(file.content, {
      uploadUrl: address + file.path,
      headers: { authorization: `Bearer ${token}` },
      onSuccess: () => resolve(),
      onError: reject,
      ...options,
    }).start();
  });
}
