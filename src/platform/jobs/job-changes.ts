import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { JobChanges } from '../http/services.ts';

const POLL_MS = 500;

interface Watched {
  wiki_id: string;
  job_id: string;
  /** The version of the row at the last poll; undefined until the callbacks have been called for it. */
  version: string | undefined;
  callbacks: Set<() => void>;
}

/**
 * Polls all watched jobs of the process, and who sees them, with one query, twice a second while jobs are watched. A query
 * by key costs less than a LISTEN connection, and needs no connection of its own.
 */
export function openJobChanges(query: Query, onFailure: (error: unknown) => void): JobChanges {
  const watched = new Map<string, Watched>();
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => void poll(), POLL_MS);
  }

  async function poll(): Promise<void> {
    const jobs = [...watched.values()];
    isScheduled = false;
    if (jobs.length === 0) return;
    try {
      const rows = await query<{ job_id: string; version: string | null }>(sql`
        select w.job_id, job_version(w.wiki_id, w.job_id) as version
        from unnest(${jobs.map(({ wiki_id }) => wiki_id)}::text[], ${jobs.map(({ job_id }) => job_id)}::text[])
          as w (wiki_id, job_id)`);
      const versions = new Map(rows.map(({ job_id, version }) => [job_id, version ?? undefined]));
      for (const job of jobs) {
        const version = versions.get(job.job_id);
        if (version === job.version) continue;
        job.version = version;
        for (const callback of job.callbacks) callback();
      }
    } catch (error) {
      onFailure(error);
    }
    schedule();
  }

  return {
    watch({ wiki_id, job_id }, onChange) {
      const key = `${wiki_id} ${job_id}`;
      const job = watched.get(key) ?? { wiki_id, job_id, version: undefined, callbacks: new Set() };
      watched.set(key, job);
      job.version = undefined;
      job.callbacks.add(onChange);
      schedule();
      return () => {
        job.callbacks.delete(onChange);
        // A reader may stop twice (its stream ends, then is destroyed), and by then other readers may watch the job.
        if (job.callbacks.size === 0 && watched.get(key) === job) watched.delete(key);
      };
    },
  };
}
