import { folderOf } from '@ibid/markdown/page-links.ts';
import { isPageSlug } from '@ibid/markdown/slugs/page-slug.ts';
import {
  ArchivedAttachment,
  ArchivedPage,
  ArchivedPerson,
  ATTACHMENTS_FILE,
  FORMAT_VERSION,
  MANIFEST_FILE,
  Manifest,
  PAGES_FILE,
  PEOPLE_FILE,
} from '../export/archive-format.ts';
import { invalid } from './archive-error.ts';
import { type Archive, shown } from './open-archive.ts';
import { readRecords, recordReader } from './read-records.ts';

/** The lists of a wiki archive, without texts. */
export interface WikiArchive {
  manifest: Manifest;
  people: ArchivedPerson[];
  pages: ArchivedPage[];
  attachments: ArchivedAttachment[];
}

const MANIFEST_MAX = 1_048_576;

const readManifest = recordReader(Manifest);
const readPerson = recordReader(ArchivedPerson);
const readPage = recordReader(ArchivedPage);
const readAttachment = recordReader(ArchivedAttachment);

/** Reads and checks all lists before anything is written. Throws an ArchiveError with the first fault. */
export async function readWikiArchive(archive: Archive): Promise<WikiArchive> {
  const manifest = readManifest(await archive.read(MANIFEST_FILE, MANIFEST_MAX), MANIFEST_FILE);
  if (manifest.version !== FORMAT_VERSION) {
    throw invalid(
      `${MANIFEST_FILE}: this is version ${manifest.version} of the format, but only version ${FORMAT_VERSION} is supported.`,
    );
  }
  const [people, pages, attachments] = [
    await all(
      readRecords(archive, PEOPLE_FILE, readPerson),
      manifest.pages + manifest.revisions + manifest.attachments,
    ),
    await all(readRecords(archive, PAGES_FILE, readPage), manifest.pages),
    await all(readRecords(archive, ATTACHMENTS_FILE, readAttachment), manifest.attachments),
  ];
  if (pages.length !== manifest.pages) {
    throw invalid(`${PAGES_FILE} has ${pages.length} pages, and ${MANIFEST_FILE} says ${manifest.pages}.`);
  }
  if (attachments.length !== manifest.attachments)
    throw invalid(`${ATTACHMENTS_FILE} and ${MANIFEST_FILE} state different numbers of attachments.`);
  checkPages(archive, pages);
  checkHome(manifest, pages);
  checkAttachments(archive, pages, attachments);
  return { manifest, people, pages, attachments };
}

/** Collects records, and throws if there are more than `max`, so that an endless list ends. */
async function all<T>(records: AsyncIterable<T>, max: number): Promise<T[]> {
  const list: T[] = [];
  for await (const record of records) {
    if (list.push(record) > max + 1) throw invalid(`The lists of the archive are longer than ${MANIFEST_FILE} states.`);
  }
  return list;
}

function checkPages(archive: Archive, pages: readonly ArchivedPage[]): void {
  const paths = new Set(pages.map(({ path }) => path));
  const ids = new Set(pages.map(({ page_id }) => page_id));
  const former = new Set<string>();
  if (paths.size !== pages.length) throw invalid(`${PAGES_FILE} has two pages with the same path.`);
  if (ids.size !== pages.length) throw invalid(`${PAGES_FILE} has two pages with the same page_id.`);
  for (const { path, file, former_paths, meant } of pages) {
    if (!path.split('/').every(isPageSlug)) throw invalid(`${PAGES_FILE}: ${shown(path)} is not a valid page path.`);
    const parent = folderOf(path);
    if (parent !== '' && !paths.has(parent))
      throw invalid(`${PAGES_FILE}: ${shown(path)} is not below a page of the archive.`);
    if (!archive.has(file)) throw invalid(`The archive has no file ${shown(file)}, which ${PAGES_FILE} names.`);
    for (const each of former_paths) {
      if (!each.split('/').every(isPageSlug) || former.has(each))
        throw invalid(`${PAGES_FILE}: ${shown(each)} cannot be a former path of ${shown(path)}.`);
      former.add(each);
    }
    if (!meant.every(({ page_id }) => ids.has(page_id)))
      throw invalid(`${PAGES_FILE}: a link of ${shown(path)} refers to a page that does not exist.`);
  }
}

function checkHome({ wiki: { home_page_id } }: Manifest, pages: readonly ArchivedPage[]): void {
  if (home_page_id === undefined || pages.some(({ page_id }) => page_id === home_page_id)) return;
  throw invalid(`${MANIFEST_FILE}: the home page ${shown(home_page_id)} is not a page of the archive.`);
}

function checkAttachments(
  archive: Archive,
  pages: readonly ArchivedPage[],
  attachments: readonly ArchivedAttachment[],
): void {
  const ids = new Set(pages.map(({ page_id }) => page_id));
  const seen = new Set<string>();
  for (const { attachment_id, page_id, file, sha256 } of attachments) {
    if (!ids.has(page_id))
      throw invalid(`${ATTACHMENTS_FILE}: ${attachment_id} belongs to a page that does not exist.`);
    if (!archive.has(file)) throw invalid(`The archive has no file ${shown(file)}, which ${ATTACHMENTS_FILE} names.`);
    for (const key of [attachment_id, `${page_id} ${sha256}`]) {
      if (seen.has(key)) throw invalid(`${ATTACHMENTS_FILE} lists ${attachment_id}, or its bytes, twice.`);
      seen.add(key);
    }
  }
}
