import { signedIn } from '../../../platform/access/access-rule.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { countOrRefuse } from '../../../platform/access/limits/limit-counts.ts';
import type { Rate } from '../../../platform/access/limits/rate-limit-buckets.ts';
import { ApiError } from '../../../platform/core/errors.ts';
import { sql } from '../../../platform/db/sql.ts';
import { Download } from '../../../platform/http/bytes.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { openZipWriter } from '../../../sources/transfer/export/zip-writer.ts';
import type { Read } from './read-account.ts';
import { writeAccount } from './write-account.ts';

/** Exports that a user may start. */
const PER_USER: Rate = { quota: 5, windowSeconds: 3600 };
/** Concurrent exports per process; each buffers a few MiB. */
const OPEN_MAX = 16;
/** Time limit of an export, so that slow clients do not block others. */
const LONGEST_MS = 30 * 60_000;

let open = 0;

export function beginExport(tx: Statements): Promise<{ user_id: string; exported_at: string }> {
  return tx.one({
    before: sql`select user_id, '' as exported_at from access`,
    result: sql`select user_id, now() as exported_at from access`,
  });
}

/** Returns a reader that fetches each batch of rows through the guard. */
export function readerOf(maybeOne: Statements['maybeOne']): Read {
  return async (rows) => {
    const found = await maybeOne<{ rows: never[] }>(sql`select coalesce(json_agg(r), '[]') as rows from (${rows}) r`);
    return found?.rows ?? [];
  };
}

/**
 * Streams the archive while it is being created, so no copy needs to be stored or deleted. Each batch is a separate
 * statement that passes the guard: once a session is revoked, or the person loses access to a workspace, nothing more
 * is read from it.
 */
export const exportAccount = endpoint({
  method: 'POST',
  path: '/v1/me/export',
  summary: "Export the caller's data",
  description:
    'Returns a ZIP archive of all data that the service has about the caller: JSON and JSON Lines files, and their uploaded picture. The archive is streamed and not stored. It includes the texts that the caller wrote in workspaces, if they can still read them.',
  access: signedIn({ session: true }),
  // The response may be long and is not stored for replay.
  idempotent: false,
  event: 'user.exported',
  reply: Download,
  errors: ['forbidden', 'overloaded'],
  example: { reply: undefined as never },
  run: async ({ maybeOne, refuse, transaction, services }) => {
    if (open >= OPEN_MAX) {
      return refuse(new ApiError('overloaded', 'Too many exports are running. Try again in a few minutes.'));
    }
    const begun = await transaction(async (tx) => {
      if (services.rates) {
        const caller = await tx.maybeOne<{ user_id: string }>(sql`select user_id from access`);
        await countOrRefuse(tx, `data exports ${caller?.user_id}`, PER_USER, 'exports of your data');
      }
      return beginExport(tx);
    });
    const zip = openZipWriter();
    const timer = setTimeout(() => zip.fail(new Error('an account export took too long')), LONGEST_MS).unref();
    open += 1;
    zip.stream.once('close', () => {
      open -= 1;
      clearTimeout(timer);
    });
    const { blobs, personLists } = services;
    writeAccount(readerOf(maybeOne), personLists, { zip, blobs, ...begun }).then(zip.end, zip.fail);
    return { stream: zip.stream, content_type: 'application/zip', filename: 'my-data.zip' };
  },
});
