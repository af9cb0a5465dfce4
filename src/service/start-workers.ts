import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ServiceDb } from '../db/db.ts';
import { ingestJob } from '../ingest/ingest.job.ts';
import { startWorker, type Worker } from '../jobs/worker.ts';
import { purgeTrash } from '../pages/purge-trash.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import { openDocumentReader } from '../sandbox/document-reader.ts';
import { openSandbox } from '../sandbox/thread-pool.ts';
import { keepIndexes } from '../search/index/keep-indexes.ts';
import { reindexJob } from '../search/index/reindex.job.ts';
import { exportJob } from '../transfer/export/export.job.ts';
import { sweepFiles } from '../transfer/export/sweep-files.ts';
import { importJob } from '../transfer/import/import.job.ts';
import { expireUploads } from '../uploads/expire-uploads.ts';
import { removeDeletedWikis } from '../wikis/remove-deleted.ts';
import { limitsOf } from './from-config.ts';
import type { OnStop } from './hooks.ts';

/** For the files of uploads and imports. */
const RENDERING_THREADS = 2;

/** Uploads, exports and imports; those of one wiki come one after the other. */
const JOBS_AT_ONCE = 4;

const PURGE_MS = 3_600_000;
const FOLD_MS = 1_000;
const DELETED_MS = 60_000;
const SWEEP_MS = 6 * 3_600_000;
const FORGET_MS = 600_000;

/** Starts who works on jobs and chores. Answers the one who is to be woken when a job was enqueued. */
export function startWorkers(
  { config, db, blobs, log }: { config: Config; db: ServiceDb; blobs: Blobs; log: Logger },
  onStop: OnStop,
): Worker {
  // Whoever reads pages comes before whoever waits for an upload.
  const sandbox = openSandbox({ threads: RENDERING_THREADS, behind: 15 });
  onStop(() => sandbox.close());
  const chores = [
    { name: 'purge the trash', every_ms: PURGE_MS, run: () => purgeTrash(db) },
    { name: 'take away deleted wikis', every_ms: DELETED_MS, run: () => removeDeletedWikis(db) },
    { name: 'sweep exports and files', every_ms: SWEEP_MS, run: () => sweepFiles(db, blobs) },
    { name: 'forget uploads', every_ms: FORGET_MS, run: () => expireUploads(db, blobs) },
  ];
  const reader = openDocumentReader();
  onStop(() => reader.close());
  const kinds = [
    ingestJob({ blobs, reader, sandbox, log }),
    exportJob({ blobs }),
    importJob({ blobs, sandbox, limits: limitsOf(config) }),
  ];
  const worker = startWorker({ db, kinds, at_once: jobsAtOnce(config), chores, log });
  onStop(() => worker.stop());
  // By itself, so that what is written is soon folded also while a long upload is worked on.
  const upkeep = [
    { name: 'fold what was written into the search index', every_ms: FOLD_MS, run: () => keepIndexes(db) },
  ];
  const librarian = startWorker({ db, kinds: [reindexJob], chores: upkeep, log });
  onStop(() => librarian.stop());
  return worker;
}

/** An import is one long transaction, and requests need connections too. */
function jobsAtOnce({ DATABASE_CONNECTIONS }: Config): number {
  return Math.max(1, Math.min(JOBS_AT_ONCE, Math.floor(DATABASE_CONNECTIONS / 2) - 1));
}
