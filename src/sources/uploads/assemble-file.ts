import { Readable } from 'node:stream';
import { ApiError } from '../../platform/core/errors.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import type { Context } from '../../platform/http/endpoint.ts';
import { toStorageError } from '../../platform/http/to-api-error.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import type { UploadFile } from './upload-file.ts';

type Params = { wiki_id: string; upload_id: string };
type Asked = Pick<Context<Params, unknown, unknown>, 'params' | 'services' | 'maybeOne' | 'many'>;
type Received = Pick<UploadFile, 'file_no' | 'filename' | 'byte_size' | 'expected_sha256'>;

/**
 * Joins the parts of a complete file into one blob and verifies its checksum. Safe to run concurrently, and again after
 * a crash. Answers 460 and fails the upload if the bytes do not match the announced hash; answers 503 if the store is
 * unavailable.
 */
export async function assembleFile(context: Asked, file: Received): Promise<void> {
  const { params, services, maybeOne } = context;
  const { blobs } = services;
  const ofFile = sql`
    wiki_id = ${params.wiki_id} and upload_id = ${params.upload_id} and file_no = ${file.file_no}`;
  const parts = () =>
    maybeOne<{ names: string[] }>(sql`
      select coalesce(array_agg(name order by start_at), '{}') as names from upload_parts where ${ofFile}`);
  const { names = [] } = (await parts()) ?? {};
  // The file arrived as one part, or another request assembled it.
  if (names.length === 0) return;
  try {
    const blob = await blobs.receive(Readable.from(joined(blobs, names), { objectMode: false }));
    if (blob.byte_size !== file.byte_size) throw new Error('the parts of a file differ in length from the file');
    await verifyChecksum(context, file, file.byte_size, blob.sha256).catch(async (error) => {
      await blob.discard();
      throw error;
    });
    await blob.keep();
    await maybeOne({
      file: sql`
        update upload_files f set sha256 = ${blob.sha256} from access
        where f.wiki_id = access.wiki_id and f.upload_id = ${params.upload_id} and f.file_no = ${file.file_no}
        returning f.wiki_id, f.upload_id, f.file_no`,
      parts: sql`
        delete from upload_parts p using file f
        where p.wiki_id = f.wiki_id and p.upload_id = f.upload_id and p.file_no = f.file_no`,
      result: raw('select file_no from file'),
    });
  } catch (error) {
    // A concurrent request that assembled the file has removed its parts.
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isGone && (await parts())?.names.length === 0) return;
    throw toStorageError(error);
  }
  await removeParts(blobs, names);
}

/**
 * Answers 460 if the bytes do not match the announced hash, and fails the upload. The upload stays open if the file has
 * more than `received` bytes by now or is settled, because a concurrent request sent those bytes.
 */
export async function verifyChecksum(
  { params, many }: Asked,
  file: Received,
  received: number,
  sha256: string,
): Promise<void> {
  if (file.expected_sha256 === '' || file.expected_sha256 === sha256) return;
  const text = `the bytes of "${file.filename.slice(0, 200)}" do not match its sha256`;
  await many(
    {
      before: sql`
        select u.upload_id, u.status, u.error, u.finished_at from uploads u join access on access.wiki_id = u.wiki_id
        join upload_files f on f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.file_no = ${file.file_no}
        where u.upload_id = ${params.upload_id} and u.status = 'uploading' and f.received = ${received} and f.sha256 = ''
        for no key update of u, f`,
      gone: sql`
        delete from upload_parts p using before
        where p.wiki_id = ${params.wiki_id} and p.upload_id = before.upload_id`,
      files: sql`
        update upload_files f set status = 'failed', error = ${`checksum_mismatch: ${text}`} from before
        where f.wiki_id = ${params.wiki_id} and f.upload_id = before.upload_id and f.kind = 'file' and f.status = 'pending'`,
      result: sql`
        update uploads u set status = 'failed', error = ${`checksum_mismatch: ${text}`}, updated_at = now(), finished_at = now()
        from before where u.wiki_id = ${params.wiki_id} and u.upload_id = before.upload_id
        returning u.upload_id, u.status, u.error, u.finished_at`,
    },
    'upload.failed',
  );
  throw new ApiError('checksum_mismatch', `T${text.slice(1)}, so the upload has failed. Create a new upload.`);
}

/** Streams one part after another, so that a large file is never in memory. */
async function* joined(blobs: Blobs, names: readonly string[]): AsyncGenerator<Buffer> {
  for (const name of names) yield* await blobs.parts.stream(name);
}

/** Removes parts that no row refers to. The job `remove-orphaned-parts` removes parts that are left after a failure. */
async function removeParts(blobs: Blobs, names: readonly string[]): Promise<void> {
  await Promise.allSettled(names.map((name) => blobs.parts.remove(name)));
}
