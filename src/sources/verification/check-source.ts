import { createHash, hash } from 'node:crypto';
import { extractorVersion } from '@ibid/documents/extractor-versions.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import { isReadUnderLimit } from '../../platform/sandbox/document-messages.ts';
import { citedBlocks } from '../records/cited-blocks.ts';
import { IS_HASH, openAttachmentCheck } from './check-attachments.ts';
import { checkPage } from './check-page.ts';
import { checkPlaces, openPartCheck } from './check-places.ts';
import { fileFindings, lossFindings, nameFindings, textFindings, textOf } from './check-reading.ts';
import { checkRecord } from './check-record.ts';
import { finding } from './findings.ts';
import type { CheckedSource, CitingPage, StoredSource } from './records.ts';
import { type ReadingTools, rereadFile } from './reread-file.ts';

/** The hashes of a checked page, for the signed report. */
export interface CheckedPage {
  page_id: string;
  revision: number;
  html_sha256: string;
  markdown_sha256: string;
  /**
   * Blocks compiled from the source: [start, end) in its text, and whether the quote has its hash and the page shows it
   * unchanged.
   */
  blocks: { start: number; end: number; sha256: string; form_sha256: string; verified: boolean }[];
}

/** Limits of verifying one source. */
export interface VerificationBounds {
  /** Larger files are not read again. Also limits the bytes of attachments that are read. */
  bytes: number;
  /** Documents with more parts are not read again. */
  parts: number;
  /** Number of pages to render again; the others are only compared with the compiled blocks. */
  pages: number;
}

export const NO_BOUNDS: VerificationBounds = {
  bytes: Number.POSITIVE_INFINITY,
  parts: Number.POSITIVE_INFINITY,
  pages: Number.POSITIVE_INFINITY,
};

/**
 * Verifies a source, starting at its file: the bytes, the extracted text, the ranges and hashes of the blocks, and the
 * content of its pages. `pages` arrive in batches. Throws errors of the store, except for a missing file.
 */
export async function checkSource(
  tools: ReadingTools,
  source: StoredSource,
  pages: AsyncIterable<readonly CitingPage[]>,
  bounds: VerificationBounds,
  onPage: (page: CheckedPage) => void = () => undefined,
): Promise<CheckedSource> {
  const file = await checkFile(tools.blobs, source);
  const isReadable = file === 'intact' && source.byte_size <= bounds.bytes;
  const { reading, limited } = isReadable
    ? await readAgain(tools, source, bounds)
    : { reading: undefined, limited: false };
  const text = textOf(source, reading);
  const checked: CheckedSource = {
    file,
    text,
    limited,
    current_extractor_version: reading?.ok ? extractorVersion(reading.kind) : 0,
    citations: 0,
    verified: 0,
    in_other_context: 0,
    edited: 0,
    rendered_pages: 0,
    stale_pages: [],
    findings: [
      ...nameFindings(source),
      ...fileFindings(file, reading),
      ...textFindings(source, text, reading),
      ...lossFindings(source, reading),
    ],
  };
  const placed = reading?.ok && text !== 'read_otherwise' ? reading : undefined;
  const parts = placed && openPartCheck(placed);
  const attached = openAttachmentCheck(tools.blobs, bounds.bytes);
  for await (const portion of pages) {
    for (const page of portion) {
      parts?.add(page);
      if (placed) checked.findings.push(...checkPlaces(page, source, placed));
      onPage(await addPage(checked, tools, source, page, bounds));
      checked.findings.push(...(await attached.check(page.page_id, page.attachments)));
    }
  }
  const message = 'it was made from the file and counts a source but cites none';
  checked.findings.push(...source.unlinked.map((page_id) => finding('citations_missing', message, page_id)));
  checked.findings.push(...(parts?.findings() ?? []));
  return checked;
}

/**
 * Reads the file under the limit that the stored reading met, so that the two are comparable. Returns no reading if
 * only the new reading met a limit.
 */
async function readAgain(tools: ReadingTools, source: StoredSource, { parts }: VerificationBounds) {
  const withoutPictures = isReadUnderLimit(source.losses);
  const reading = await rereadFile(tools, source, { partsMax: parts, withoutPictures });
  const isLimited = reading.ok ? isReadUnderLimit(reading.losses) : reading.isLimited === true;
  const isComparable = reading.ok && withoutPictures;
  return { reading: isLimited && !isComparable ? undefined : reading, limited: isLimited };
}

async function addPage(
  checked: CheckedSource,
  { sandbox }: ReadingTools,
  { wiki_id, text, extractor_version }: StoredSource,
  page: CitingPage,
  bounds: VerificationBounds,
): Promise<CheckedPage> {
  const { markdown, html, page_id, revision } = page;
  // Another version may render the same Markdown differently until the file is uploaded again.
  const isOfNow = page.origin === 'authored' || [0, extractor_version].includes(checked.current_extractor_version);
  const isRendered = isOfNow && page.has_revision && checked.rendered_pages < bounds.pages;
  const input = { wiki_id, markdown, page_path: 'page', pagesByTarget: new Map<string, string>() };
  const rendered = isRendered ? await sandbox.render(input) : undefined;
  if (isRendered) checked.rendered_pages += 1;
  const cited = citedBlocks(page, text);
  const { findings, shown, unchanged } = await checkPage(page, cited, rendered);
  checked.findings.push(...findings, ...checkRecord(page, rendered));
  checked.citations += cited.length;
  const blocks = cited.map(({ start, end, sha256, form_sha256, source_matches }, i) => {
    return { start, end, sha256, form_sha256, verified: source_matches && unchanged[i] === true };
  });
  checked.verified += blocks.filter(({ verified }) => verified).length;
  checked.in_other_context += blocks.filter(
    ({ verified }, i) => verified && (shown[i]?.context.length ?? 0) > 0,
  ).length;
  if (findings.every(({ kind }) => kind === 'page_text_altered')) {
    checked.edited += unchanged.filter((isUnchanged) => !isUnchanged).length;
  }
  if (cited.some(({ source_matches }) => !source_matches)) checked.stale_pages.push(page_id);
  return { page_id, revision, html_sha256: hash('sha256', html), markdown_sha256: hash('sha256', markdown), blocks };
}

async function checkFile(
  blobs: Pick<Blobs, 'stream'>,
  { sha256, byte_size }: StoredSource,
): Promise<CheckedSource['file']> {
  if (!IS_HASH.test(sha256)) return 'missing';
  const bytes = createHash('sha256');
  let length = 0;
  try {
    for await (const chunk of await blobs.stream(sha256)) {
      bytes.update(chunk);
      length += chunk.length;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 'missing';
  }
  return bytes.digest('hex') === sha256 && length === Number(byte_size) ? 'intact' : 'altered';
}
