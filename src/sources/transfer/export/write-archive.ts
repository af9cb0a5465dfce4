import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Query } from '../../../platform/db/db.ts';
import type { ClaimedJob } from '../../../platform/jobs/define-job.ts';
import type { Blobs } from '../../../platform/providers/storage/blobs.ts';
import {
  type ArchivedAttachment,
  type ArchivedPage,
  type ArchivedPerson,
  ATTACHMENTS_FILE,
  FORMAT,
  FORMAT_VERSION,
  frontMatter,
  HISTORY_FILE,
  MANIFEST_FILE,
  type Manifest,
  PAGES_FILE,
  PEOPLE_FILE,
  pageFile,
} from './archive-format.ts';
import { type Hashes, hashCollector } from './archive-seal.ts';
import { type PageRow, readAttachments, readHistory, readManifest, readPages, readPeople } from './read-wiki.ts';
import type { ZipWriter } from './zip-writer.ts';

/** Types of files that are already compressed. */
const PACKED = /^(?:image\/(?!svg)|video\/|audio\/|application\/(?:zip|gzip|pdf|vnd\.openxmlformats|x-7z|x-xz|zstd))/;

/** The bytes of an attachment, and its name in the archive. */
interface AttachedFile {
  name: string;
  sha256: string;
  isPacked: boolean;
}

/**
 * Writes a wiki to an archive from one snapshot of the database, and returns its attachments for writeAttachments.
 * Waits only for the database and `zip`. `onProgress` receives the progress from 0 to 1.
 */
export async function writeRecords(
  query: Query,
  { wiki_id, acts_for }: Pick<ClaimedJob, 'wiki_id' | 'acts_for'>,
  { zip, onProgress }: { zip: ZipWriter; onProgress(part: number): void },
): Promise<{ manifest: Manifest; files: AttachedFile[]; hashes: Hashes }> {
  const manifest: Manifest = {
    format: FORMAT,
    version: FORMAT_VERSION,
    ...(acts_for !== null && { seen_by: acts_for }),
    ...(await readManifest(query, wiki_id)),
  };
  const people = await readPeople(query, wiki_id);
  const steps = 2 * manifest.pages + manifest.revisions + 2 * manifest.attachments;
  const files: AttachedFile[] = [];
  let done = 0;
  async function* counted<T>(rows: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const row of rows) {
      yield row;
      done += 1;
      if (done % 500 === 0) onProgress(done / steps);
    }
  }

  const { hashed, all } = hashCollector();
  const add = (name: Parameters<typeof hashed>[0], content: Readable | Buffer) => zip.add(name, hashed(name, content));
  await add(MANIFEST_FILE, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
  await add(PEOPLE_FILE, lines(people));
  const nameOf = namesOf(people);
  const pages = mapped(counted(readPages(query, wiki_id)), (page) => recordOf(page, nameOf));
  await add(PAGES_FILE, lines(pages));
  await add(HISTORY_FILE, lines(counted(readHistory(query, wiki_id))));
  const attachments = mapped(counted(readAttachments(query, wiki_id)), (attachment) => {
    const record = attachmentRecord(attachment);
    const { file: name, sha256, content_type } = record;
    files.push({ name, sha256, isPacked: PACKED.test(content_type) });
    return record;
  });
  await add(ATTACHMENTS_FILE, lines(attachments));
  for await (const page of counted(readPages(query, wiki_id))) {
    await zip.add(pageFile(page.path, page.has_children), fileOf(page, nameOf));
  }
  return { manifest, files, hashes: all() };
}

/**
 * Writes the attachments that writeRecords returned. The store keeps the bytes of deleted attachments for a day, so
 * they are still available.
 */
export async function writeAttachments(
  { manifest, files }: { manifest: Manifest; files: readonly AttachedFile[] },
  { blobs, zip, onProgress }: { blobs: Blobs; zip: ZipWriter; onProgress(part: number): void },
): Promise<void> {
  const steps = 2 * manifest.pages + manifest.revisions + 2 * manifest.attachments;
  for (const [i, { name, sha256, isPacked }] of files.entries()) {
    await zip.add(name, await blobs.stream(sha256), isPacked);
    onProgress(1 - (files.length - i - 1) / steps);
  }
}

/** Streams records as lines of JSON, with backpressure. */
export function lines(records: AsyncIterable<object> | Iterable<object>): Readable {
  const texts = mapped(records, (record) => `${JSON.stringify(record)}\n`);
  return Readable.from(texts, { objectMode: false, highWaterMark: 65_536 });
}

async function* mapped<A, B>(rows: AsyncIterable<A> | Iterable<A>, change: (row: A) => B): AsyncGenerator<B> {
  for await (const row of rows) yield change(row);
}

/** Formats users as `Ada Lovelace <ada@example.com>`, or by id if neither name nor address is known. */
function namesOf(people: readonly ArchivedPerson[]): (user_id: string) => string {
  const names = new Map(
    people.map(({ user_id, name, email }) => [user_id, [name, email && `<${email}>`].filter(Boolean).join(' ')]),
  );
  return (user_id) => names.get(user_id) || user_id;
}

function fileOf(page: PageRow, nameOf: (user_id: string) => string): Buffer {
  const { title, slug, page_id, position, status, origin, description, revision, created_at, updated_at } = page;
  const front = frontMatter({
    title,
    slug,
    page_id,
    position,
    status,
    origin,
    description,
    revision,
    created_at,
    created_by: nameOf(page.created_by),
    updated_at,
    updated_by: nameOf(page.updated_by),
  });
  return Buffer.from(front + page.markdown);
}

function recordOf(page: PageRow, nameOf: (user_id: string) => string): ArchivedPage {
  const { page_id, path, title, description, position, status, origin, stale, gone_file, revision, word_count } = page;
  const { created_at, created_by, updated_at, updated_by, former_paths, meant } = page;
  return {
    page_id,
    path,
    file: pageFile(path, page.has_children),
    crc32: crc32(fileOf(page, nameOf)),
    title,
    description,
    position,
    status,
    origin,
    stale,
    ...(gone_file !== null && { gone_file }),
    revision,
    word_count,
    created_at,
    created_by,
    updated_at,
    updated_by,
    former_paths,
    meant,
  };
}

function attachmentRecord(attachment: Omit<ArchivedAttachment, 'file'>): ArchivedAttachment {
  const { attachment_id, filename } = attachment;
  return { ...attachment, file: `attachments/${attachment_id}/${filename}` };
}
