import { notFound } from '../../core/errors.ts';
import { sha256 } from '../../core/secrets.ts';
import { sql } from '../../db/sql.ts';
import type { Endpoint } from '../endpoint.ts';
import { NO_FORM, type ReceivedForm, receiveFiles } from '../multipart.ts';
import type { Services } from '../services.ts';
import { isNearLimit, refuseStorage, type StorageUse, storageOf } from '../upload-limits.ts';
import type { AcceptedRequest } from './accepted-request.ts';
import { streamOf } from './input.ts';

/** Receives the files of a multipart body. A caller without permission to upload is refused before any byte is read. */
export async function receiveUpload(
  endpoint: Endpoint,
  { blobs, limits }: Services,
  { request, input, openGuard }: AcceptedRequest,
): Promise<ReceivedForm> {
  const stream = streamOf(request);
  if (endpoint.consumes !== 'multipart' || !stream) return NO_FORM;
  const target = endpoint.form?.target?.(input.params) ?? sql`select 1`;
  const guard = openGuard();
  const findStorage = async () => {
    const storage = await guard.maybeOne<StorageUse>(sql`
      select s.used, s.allowed from access a cross join lateral (${storageOf(sql`a.workspace_id`)}) s where exists (${target})`);
    if (!storage) throw notFound();
    return storage;
  };
  const storage = await findStorage();
  // 1, because a file that needs storage has at least one byte.
  refuseStorage(storage, 1);
  const { upload_files, file_bytes, upload_bytes } = limits;
  return receiveFiles(stream, request.headers, blobs, {
    ...limits,
    upload_files: endpoint.form?.file ? 1 : upload_files,
    file_bytes: endpoint.form?.file === 'archive' ? upload_bytes : file_bytes,
    storage,
    // Other requests may have used the storage while these files arrived.
    beforeKeeping: async (bytes) => isNearLimit(storage, bytes) && refuseStorage(await findStorage(), bytes),
  });
}

/** Returns the SHA-256 of the request's content: the names and contents of its files, and its fields; or its JSON. */
export function fingerprintOf({ request }: AcceptedRequest, { files, fields }: ReceivedForm): Buffer {
  const named = Object.entries(fields);
  const sent = streamOf(request)
    ? [...files.map(({ filename, blob }) => [filename, blob.sha256]), ...(named.length > 0 ? [named] : [])]
    : [request.body];
  return sha256(JSON.stringify(sent));
}
