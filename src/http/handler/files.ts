import { notFound } from '../../core/errors.ts';
import { sha256 } from '../../core/secrets.ts';
import { sql } from '../../db/sql.ts';
import type { Endpoint } from '../endpoint.ts';
import { type ReceivedFile, receiveFiles } from '../multipart.ts';
import type { Services } from '../services.ts';
import type { AcceptedRequest } from './accepted-request.ts';
import { streamOf } from './input.ts';

/** Receives the files of a multipart body. A caller who may not upload is refused before a byte is read. */
export async function receiveUpload(
  endpoint: Endpoint,
  { blobs, limits }: Services,
  { request, input, openGuard }: AcceptedRequest,
): Promise<ReceivedFile[]> {
  const stream = streamOf(request);
  if (endpoint.consumes !== 'multipart' || !stream) return [];
  const there = await openGuard().maybeOne(endpoint.receives?.(input.params) ?? sql`select 1`);
  if (!there) throw notFound();
  const { upload_files, file_bytes, upload_bytes } = limits;
  return receiveFiles(stream, request.headers, blobs, {
    ...limits,
    upload_files: endpoint.files_max ?? upload_files,
    file_bytes: endpoint.file_max === 'upload' ? upload_bytes : file_bytes,
  });
}

/** SHA-256 of the request's content: its files by name and content, or its JSON. */
export function fingerprintOf({ request }: AcceptedRequest, files: readonly ReceivedFile[]): Buffer {
  const sent = streamOf(request) ? files.map(({ filename, blob }) => [filename, blob.sha256]) : [request.body];
  return sha256(JSON.stringify(sent));
}
