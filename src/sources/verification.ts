import { createHash } from 'node:crypto';
import type { Blobs } from '../providers/storage/blobs.ts';
import { type CitationRow, citedBlocks } from './cited-blocks.ts';

/** Whether every quote that pages were made from has its hash, in a source with this text. */
export function verifyPages(pages: readonly CitationRow[], text: string) {
  const checked = pages.map((row) => ({ page_id: row.page_id, blocks: citedBlocks(row, text) }));
  const blocks = checked.flatMap((page) => page.blocks);
  return {
    citations: blocks.length,
    verified: blocks.filter(({ source_matches }) => source_matches).length,
    stale_pages: checked
      .filter((page) => page.blocks.some(({ source_matches }) => !source_matches))
      .map(({ page_id }) => page_id),
  };
}

/** Whether the stored bytes are those that have this hash. */
export async function verifyFile(
  blobs: Pick<Blobs, 'stream'>,
  sha256: string,
): Promise<'intact' | 'altered' | 'missing'> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of await blobs.stream(sha256)) hash.update(chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 'missing';
  }
  return hash.digest('hex') === sha256 ? 'intact' : 'altered';
}
