import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { sql } from '../../../platform/db/sql.ts';
import type { BlobStore } from '../../../platform/providers/storage/blobs.ts';
import { openStore } from '../../../platform/providers/storage/open-storage.ts';
import { readS3Url } from '../../../platform/providers/storage/s3-place.ts';
import {
  type DatabaseSubject,
  type Finding,
  ok,
  problem,
  reasonOf,
  type Subject,
  warning,
} from '../../operator/checks/finding.ts';

/** Puts, gets, lists and deletes an object in each bucket. */
export async function checkBuckets({ config: { STORAGE_URL, BACKUP_URL } }: Subject): Promise<Finding[]> {
  const buckets = Object.entries({ STORAGE_URL, BACKUP_URL }).filter(([, url]) => url?.startsWith('s3:'));
  return Promise.all(buckets.map(([option, url = '']) => checkBucket(option, url)));
}

async function checkBucket(option: string, url: string): Promise<Finding> {
  const place = readS3Url(url, option);
  const where = `${option} ${place.endpoint}/${place.bucket}/${place.prefix}`;
  const { openBucket } = await import('../../../platform/providers/storage/s3-bucket.ts');
  const bucket = openBucket(place);
  const key = `${place.prefix}doctor/${randomUUID()}`;
  let step = 'put';
  try {
    await bucket.putBytes(key, Buffer.from(key));
    step = 'get';
    const got = await buffer(await bucket.stream(key));
    if (got.toString() !== key) return problem(`${where}: it returned different bytes`, 'check for a proxy in between');
    step = 'list';
    let isListed = false;
    for await (const object of bucket.list(`${place.prefix}doctor/`)) isListed ||= object.key === key;
    if (!isListed) return problem(`${where}: a stored object is not listed`, 'use a store with consistent listings');
    step = 'delete';
    await bucket.remove(key);
    return ok(`${where}: put, get, list and delete succeeded`);
  } catch (error) {
    const cause = (error as Error).cause as Error | undefined;
    const reason = cause ? `${cause.name}: ${reasonOf(cause)}` : reasonOf(error);
    const region = regionOf(cause);
    const advice = region === undefined ? BUCKET_ADVICE[cause?.name ?? ''] : `set region=${region} in ${option}`;
    return problem(`${where}: ${step} failed: ${reason}`, advice ?? `start it, or correct ${option}`);
  } finally {
    if (step !== 'put' && step !== 'delete') await bucket.remove(key).catch(() => undefined);
    bucket.close();
  }
}

/** Returns the region of the bucket if the server names another region than the option. */
function regionOf(cause: Error | undefined): string | undefined {
  const {
    name,
    message = '',
    Region,
    $response,
  } = (cause ?? {}) as Error & {
    Region?: string;
    $response?: { headers?: Record<string, string> };
  };
  if (!/^(AuthorizationHeaderMalformed|PermanentRedirect|301|IllegalLocationConstraintException)$/.test(name ?? ''))
    return undefined;
  return Region ?? $response?.headers?.['x-amz-bucket-region'] ?? /expecting '([\w-]+)'/.exec(message)?.[1];
}

const TOO_BUSY = 'it is overloaded: retry later, and check what else uses it';

const BUCKET_ADVICE: Record<string, string> = {
  SlowDown: TOO_BUSY,
  ServiceUnavailable: TOO_BUSY,
  TooManyRequests: TOO_BUSY,
  AuthorizationHeaderMalformed: "set region to the bucket's region",
  NoSuchBucket: 'create the bucket, or correct its name',
  InvalidAccessKeyId: 'correct the key',
  SignatureDoesNotMatch: 'correct the secret; percent-encode all characters except letters and digits',
  AccessDenied: 'grant the key s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket',
  RequestTimeTooSkewed: 'synchronize the clock of this machine with NTP',
  PermanentRedirect: "set region to the bucket's region",
};

/** Limits on the time and the number of files listed; beyond them, only a sample is checked. */
const LIST_MS = 5_000;
const LIST_MAX = 500_000;
const SAMPLE = 200;
const BATCH = 5_000;
const SHOWN = 3;

/**
 * Finds files without a row, which take space until a job removes them, and rows without a file, which mean data loss.
 * Ignores the last hour, because these files may still be in transit.
 */
export async function checkFiles(subject: DatabaseSubject): Promise<Finding[]> {
  const { DATA_DIR, STORAGE_URL } = subject.config;
  const isThere = STORAGE_URL !== undefined || (await stat(join(DATA_DIR, 'blobs')).catch(() => undefined));
  if (!isThere) return [ok('there are no files yet')];
  // A bucket store needs a folder for temporary files; this check writes none.
  const unused = await mkdtemp(join(tmpdir(), 'ibid-doctor-'));
  const place = STORAGE_URL === undefined ? undefined : readS3Url(STORAGE_URL);
  const { blobs, close } = await openStore(place, place ? unused : DATA_DIR);
  try {
    const { stored, isWhole } = await listStored(blobs);
    const scope = isWhole ? `files in the store: ${stored.size}` : `the first ${stored.size} files and ${SAMPLE} rows`;
    const [untracked, missing] = await Promise.all([
      countUntracked(subject, [...stored]),
      isWhole
        ? findMissing(subject, async (sha256) => stored.has(sha256))
        : findMissing(subject, (sha256) => isReadable(blobs, sha256), SAMPLE),
    ]);
    const findings: Finding[] = [];
    if (missing.length > 0) {
      const shown = missing.slice(0, SHOWN).join(', ');
      findings.push(
        problem(
          `missing files: ${missing.length}, ${shown}${missing.length > SHOWN ? ', …' : ''} (checked ${scope})`,
          'restore them from a backup of files; "ibid verify" lists the affected pages',
        ),
      );
    }
    if (untracked > 0) {
      findings.push(
        warning(
          `files without a row: ${untracked} (checked ${scope})`,
          'none needed: this is normal after a restore, and jobs remove unreferenced files',
        ),
      );
    }
    return findings.length > 0
      ? findings
      : [ok(`${scope}; every file has a row, and every referenced row has its file`)];
  } finally {
    close();
    await rm(unused, { recursive: true, force: true });
  }
}

async function listStored(blobs: BlobStore): Promise<{ stored: Set<string>; isWhole: boolean }> {
  const stored = new Set<string>();
  const deadline = performance.now() + LIST_MS;
  for await (const { sha256 } of blobs.list()) {
    if (stored.size >= LIST_MAX || performance.now() > deadline) return { stored, isWhole: false };
    stored.add(sha256);
  }
  return { stored, isWhole: true };
}

async function countUntracked({ db }: DatabaseSubject, stored: string[]): Promise<number> {
  let untracked = 0;
  for (let at = 0; at < stored.length; at += BATCH) {
    const [row] = await db.query<{ count: number }>(sql`
      select count(*)::int as count from unnest(${stored.slice(at, at + BATCH)}::text[]) as g (sha256)
      where not exists (select from blobs b where b.sha256 = g.sha256)`);
    untracked += row?.count ?? 0;
  }
  return untracked;
}

/** Finds referenced rows whose file is missing: among all rows, or in a sample with a random start. */
async function findMissing(
  { db }: DatabaseSubject,
  isThere: (sha256: string) => Promise<boolean>,
  sample?: number,
): Promise<string[]> {
  const missing: string[] = [];
  // Hashes are evenly distributed, so consecutive rows from a random hash are a fair sample.
  let last = sample === undefined ? '' : randomUUID().slice(0, 4);
  for (;;) {
    const limit = sample ?? BATCH;
    const rows = await db.query<{ sha256: string }>(sql`
      select sha256 from blobs
      where sha256 > ${last} and deleting_since is null and kept_at < now() - interval '1 hour'
      order by sha256 limit ${limit}`);
    const gone = [];
    for (const { sha256 } of rows) if (!(await isThere(sha256))) gone.push(sha256);
    if (gone.length > 0) missing.push(...(await referredTo({ db }, gone)));
    last = rows.at(-1)?.sha256 ?? '';
    if (rows.length < limit || sample !== undefined) return missing;
  }
}

/** The view shows its rows only to the service. */
function referredTo({ db }: Pick<DatabaseSubject, 'db'>, sha256s: string[]): Promise<string[]> {
  return db.transaction(async (query) => {
    await query(sql`select set_config('ibid.service', 'on', true)`);
    const rows = await query<{ sha256: string }>(sql`
      select distinct sha256 from blob_references where sha256 = any (${sha256s}::text[]) order by sha256`);
    return rows.map(({ sha256 }) => sha256);
  });
}

async function isReadable(blobs: BlobStore, sha256: string): Promise<boolean> {
  try {
    (await blobs.stream(sha256)).on('error', () => undefined).destroy();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
