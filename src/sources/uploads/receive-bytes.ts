import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { type Context, endpoint } from '../../platform/http/endpoint.ts';
import { toStorageError } from '../../platform/http/to-api-error.ts';
import { refuseStorage, type StorageUse, storageOf } from '../../platform/http/upload-limits.ts';
import type { ReceivedBlob } from '../../platform/providers/storage/blobs.ts';
import { assembleFile, verifyChecksum } from './assemble-file.ts';
import { type BodyParts, bodyParts } from './body-parts.ts';
import { type Checksum, readChecksum, readOffset, requireTus, TUS, TUS_RESUMABLE } from './tus.ts';
import { closedUploadError, expiryFromNow, FileParams, fileOf, isOpen, type UploadFile } from './upload-file.ts';

/** Bytes per part. Each part is durable, so a killed process loses at most one. */
const PART_BYTES = 8 * 2 ** 20;

type Params = { wiki_id: string; upload_id: string; file_id: string };
type Asked = Pick<Context<Params, unknown, unknown>, 'params' | 'services' | 'maybeOne' | 'many'>;

/**
 * Stores the body as parts, each durable under a unique name before a statement appends it to the file. That statement
 * checks the access rule again. Of concurrent requests one continues, and the others cannot damage the file.
 */
export const receiveBytes = endpoint({
  method: 'PATCH',
  path: '/v1/wikis/:wiki_id/uploads/:upload_id/files/:file_id',
  summary: 'Send bytes of a file',
  description: 'tus 1.0: bytes from `Upload-Offset` on. If the connection breaks, the bytes received so far are kept.',
  access: onWiki('uploads:create'),
  idempotent: false,
  params: FileParams,
  consumes: 'bytes',
  requestHeaders: {
    'Tus-Resumable': TUS_RESUMABLE,
    'Upload-Offset': 'Number of bytes that the file already has.',
    'Upload-Checksum':
      'An algorithm (sha256, sha1 or md5), a space, and the digest of this body in base64; bytes with another digest are rejected.',
  },
  responseHeaders: TUS,
  status: 204,
  reply: Type.Object({ received: Type.Integer() }),
  headers: ({ received }) => ({ 'upload-offset': String(received), 'upload-expires': expiryFromNow() }),
  errors: [
    'quota_exceeded',
    'invalid_request',
    'upload_state',
    'precondition_failed',
    'payload_too_large',
    'unsupported_media_type',
    'checksum_mismatch',
    'storage_unavailable',
  ],
  example: { reply: { received: 1_234 } },
  run: async (context) => {
    const { params, header, maybeOne, bytes } = context;
    const file = await maybeOne<UploadFile & StorageUse>(sql`
      select f.*, s.used, s.allowed from (${fileOf(params)}) f cross join access a
      cross join lateral (${storageOf(sql`a.workspace_id`)}) s`);
    if (!file) throw notFound();
    requireTus(header);
    const offset = readOffset(header);
    const checksum = readChecksum(header);
    if (!file.is_open) throw closedUploadError(file);
    // The announced bytes are already counted, but the limit may have been lowered since.
    refuseStorage(file, 0);
    if (offset !== file.received) throw offsetConflict(file);
    if (Number(header('Content-Length') ?? 0) > file.byte_size - offset) throw tooLong(file);
    const body = bodyParts(bytes);
    const received = checksum
      ? await receiveAtOnce(context, file, body, checksum)
      : await receiveInParts(context, file, body);
    if (body.failure() !== undefined) {
      throw new ApiError('invalid_request', 'The connection closed before the body was complete.');
    }
    if (received === file.byte_size) await assembleFile(context, file);
    return { received };
  },
});

async function receiveInParts(context: Asked, file: UploadFile, body: BodyParts): Promise<number> {
  let at = file.received;
  while (await body.hasMore()) {
    const blob = await receive(context, body.next(Math.min(PART_BYTES, file.byte_size - at)));
    at = await keep(context, file, at, blob, body);
  }
  return at;
}

/** With a checksum, no byte counts until all are verified. */
async function receiveAtOnce(context: Asked, file: UploadFile, body: BodyParts, checksum: Checksum): Promise<number> {
  const hash = createHash(checksum.algorithm);
  const hashed = async function* () {
    for await (const chunk of body.next(file.byte_size - file.received)) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const blob = await receive(context, hashed());
  if (!hash.digest().equals(checksum.digest)) {
    await blob.discard();
    throw new ApiError('checksum_mismatch', 'The bytes do not have the checksum of Upload-Checksum. Send them again.');
  }
  if (blob.byte_size > 0) return keep(context, file, file.received, blob, body);
  await blob.discard();
  return file.received;
}

function receive({ services }: Asked, bytes: AsyncIterable<Buffer>): Promise<ReceivedBlob> {
  return services.blobs.receive(Readable.from(bytes, { objectMode: false })).catch((error) => {
    throw toStorageError(error);
  });
}

/** Makes the bytes durable, then appends them to the file. Returns the file's new size. */
async function keep(context: Asked, file: UploadFile, at: number, blob: ReceivedBlob, body: BodyParts) {
  const { services, params, maybeOne } = context;
  const received = at + blob.byte_size;
  const isWhole = at === 0 && received === file.byte_size;
  const name = `${file.file_id}.${at}.${randomUUID()}`;
  try {
    if (received === file.byte_size && (await body.hasMore())) throw tooLong(file);
    if (isWhole) await verifyChecksum(context, file, at, blob.sha256);
    await (isWhole ? blob.keep() : blob.keepAsPart(name));
  } catch (error) {
    await blob.discard();
    throw toStorageError(error);
  }
  const counted = await maybeOne<{ received: number }>({
    upload: sql`
      update uploads u set updated_at = now() from access
      where u.wiki_id = access.wiki_id and u.upload_id = ${params.upload_id} and ${isOpen}
      returning u.wiki_id, u.upload_id`,
    file: sql`
      update upload_files f set received = ${received}, sha256 = ${isWhole ? blob.sha256 : ''} from upload u
      where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.file_no = ${file.file_no} and f.received = ${at}
      returning f.wiki_id, f.upload_id, f.file_no, f.received`,
    ...(!isWhole && {
      part: sql`
        insert into upload_parts (wiki_id, upload_id, file_no, start_at, byte_size, name)
        select wiki_id, upload_id, file_no, ${at}::bigint, ${blob.byte_size}::bigint, ${name} from file`,
    }),
    result: raw('select received from file'),
  });
  if (counted) return received;
  if (!isWhole) await services.blobs.parts.remove(name);
  const now = await maybeOne<UploadFile>(fileOf(params));
  if (!now) throw notFound();
  throw now.is_open ? offsetConflict(now) : closedUploadError(now);
}

function offsetConflict({ received }: UploadFile): ApiError {
  return new ApiError('conflict', `The file has ${received} bytes. Continue with Upload-Offset: ${received}.`);
}

function tooLong({ filename, byte_size }: UploadFile): ApiError {
  return new ApiError(
    'payload_too_large',
    `"${filename.slice(0, 100)}" was announced with ${byte_size} bytes, but more were sent.`,
  );
}
