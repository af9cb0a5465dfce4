import { createHash } from 'node:crypto';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import { SNIFFED_BYTES, sniffType } from '../../wiki/attachments/sniff-type.ts';
import { type Finding, finding } from './findings.ts';

/** The stored row of a file that is attached to a page, such as a picture. */
export interface Attachment {
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
}

/**
 * Compares the stored bytes of attachments with their rows. Each file is read once, and reading stops at `bytes` in
 * total.
 */
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
    /** Returns a finding for each attachment that differs from its row. Skips files that exceed the remaining bytes. */
    async check(page_id: string, attachments: readonly Attachment[]): Promise<Finding[]> {
      const findings: Finding[] = [];
      for (const { filename, content_type, byte_size, sha256 } of attachments) {
        if (byte_size > left && !known.has(sha256)) continue;
        const stored = await read(sha256);
        const isSame = stored?.sha256 === sha256 && stored.byte_size === byte_size;
        if (isSame && stored.content_type === content_type) continue;
        const what = isSame ? 'type does not match its bytes' : stored ? 'bytes were changed' : 'bytes are missing';
        findings.push(finding('attachment_altered', `the ${what}: ${filename}`, page_id));
      }
      return findings;
    },
  };
}

/** Names under which a store can have a file. */
export const IS_HASH = /^[0-9a-f]{64}$/;

/** Hashes a stored file and detects its type. Returns undefined if the file is missing. */
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
