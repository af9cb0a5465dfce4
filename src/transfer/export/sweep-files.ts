import type { ServiceDb } from '../../db/db.ts';
import { SERVICE } from '../../db/request-context.ts';
import { sql } from '../../db/sql.ts';
import type { Blobs } from '../../providers/storage/blobs.ts';

/** Far longer than any request takes from keeping a file to writing down what refers to it. */
const GRACE_MS = 24 * 3_600_000;

/** Forgets exports that are over, and takes away the files that nothing refers to any more. Any number may do so at once. */
export async function sweepFiles(db: ServiceDb, blobs: Blobs): Promise<void> {
  const { query } = db.in(SERVICE);
  await query(sql`delete from exports where expires_at < now()`);
  await blobs.sweep(GRACE_MS, async (sha256s) => {
    const used = await query<{ sha256: string }>(sql`select blobs_in_use(${sha256s}::text[]) as sha256`);
    return new Set(used.map(({ sha256 }) => sha256));
  });
}
