import { createHash } from 'node:crypto';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import { SNIFFED_BYTES, sniffType } from '../../wiki/attachments/sniff-type.ts';
import { type Finding, finding } from './findings.ts';

/** A picture or another file that a page shows or links to, as its row says. */
export interface Attachment {
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
}

/** Checks the stored bytes of attachments against their rows, each file once, as long as there are `bytes` left to read. */
export function openAttachmentCheck(blobs: Pick<Blobs, 'stream'>, bytes: number) {
  const known = new Map<string, Omit<Attachment, 'filename'> | undefined>();
  let left = bytes;

  async function read(sha256: string) {
    if (known.has(sha256)) return known.get(sha256);
    const stored = await hashOf(blobs, sha256);
    left -= stored?.byte_size ?? 0;
    known.set(sha256, stored);
    return stored;
  }

  return {
    /** What of the attachments of a page is not as its row says. Those that are beyond the bytes are not read. */
    async check(page_id: string, attachments: readonly Attachment[]): Promise<Finding[]> {
      const findings: Finding[] = [];
      for (const { filename, content_type, byte_size, sha256 } of attachments) {
        if (byte_size > left && !known.has(sha256)) continue;
        const stored = await read(sha256);
        const isSame = stored?.sha256 === sha256 && stored.byte_size === byte_size;
        if (isSame && stored.content_type === content_type) continue;
        const what = isSame ? 'type is not that of its bytes' : stored ? 'bytes are others' : 'bytes are gone';
        findings.push(finding('attachment_altered', `the ${what}: ${filename}`, page_id));
      }
      return findings;
    },
  };
}

/** What a store can be asked for. */
export const IS_HASH = /^[0-9a-f]{64}$/;

/** What is stored under a hash; undefined where nothing is. */
async function hashOf(blobs: Pick<Blobs, 'stream'>, name: string) {
  if (!IS_HASH.test(name)) return undefined;
  const digest = createHash('sha256');
  const start: Buffer[] = [];
  let byte_size = 0;
  try {
    for await (const chunk of await blobs.stream(name)) {
      if (byte_size < SNIFFED_BYTES) start.push(chunk);
      digest.update(chunk);
      byte_size += chunk.length;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
  const content_type = await sniffType(Buffer.concat(start).subarray(0, SNIFFED_BYTES));
  return { sha256: digest.digest('hex'), byte_size, content_type };
}
