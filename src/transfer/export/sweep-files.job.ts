import { sql } from '../../db/sql.ts';
import { defineJob } from '../../jobs/define-job.ts';

/** Far longer than any request takes from keeping a file to writing down what refers to it. */
const GRACE_MS = 24 * 3_600_000;

/** Forgets expired exports, and deletes the files that nothing refers to any more. */
export const sweepFiles = defineJob({
  name: 'sweep-files',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 3_600,
  every: 6 * 3_600,
  async run({ db: { query }, services: { blobs } }) {
    await query(sql`delete from exports where expires_at < now()`);
    await blobs.sweep(GRACE_MS, async (sha256s) => {
      const used = await query<{ sha256: string }>(sql`select blobs_in_use(${sha256s}::text[]) as sha256`);
      return new Set(used.map(({ sha256 }) => sha256));
    });
  },
});
