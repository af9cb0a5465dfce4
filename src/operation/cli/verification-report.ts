import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { link, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckedPage } from '../../sources/verification/check-source.ts';
import type { CheckedSource, StoredSource } from '../../sources/verification/records.ts';

export interface ReportKey {
  private_key: KeyObject;
  /** PEM. */
  public_key: string;
}

const KEY_FILE = 'report-key.pem';

/** Explanations for checkers of a report without this code; see docs/operations/verification-reports.md. */
const HOW = [
  'file_sha256: SHA-256 of the stored bytes, computed again; file says whether it equals the hash of the upload.',
  'text_sha256: SHA-256 of the stored text in UTF-8; text says whether version current_extractor_version of the extractor read the same text from the file again.',
  'limited: reading the file reached a limit of time or memory. If this happened during the upload, the file was read again under that limit, and its pictures are among the losses; if it happened now, text is not_read.',
  'blocks: [start, end) in the text, in UTF-16 code units; sha256: SHA-256 of that part of the text in UTF-8, as compiled.',
  'form_sha256: SHA-256 of the form of the block: its text in Normalization Form C with white space collapsed, except in code, with marks for text that is struck, raised, lowered, drawn from its source (a formula, a diagram) or in another cell, and with the heads of a cell and the notes of a mark; "" if it was not kept.',
  'verified: that part of the text has its hash, and a whole block in the HTML of this revision of the page has the form.',
  'html_sha256, markdown_sha256: SHA-256 of the stored HTML and Markdown of the revision in UTF-8; the Markdown was rendered again and compared with the HTML.',
];

/**
 * Opens the Ed25519 key in DATA_DIR, created on first use. It is not in the database, so that write access to the
 * database does not suffice to sign a forged report.
 */
export async function openReportKey(dataDir: string): Promise<ReportKey> {
  const path = join(dataDir, KEY_FILE);
  const made = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  // Linked when complete, so that concurrent processes end up with the same key.
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, made, { flag: 'wx', mode: 0o600 });
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(draft);
  const private_key = createPrivateKey(await readFile(path));
  return { private_key, public_key: createPublicKey(private_key).export({ type: 'spki', format: 'pem' }).toString() };
}

/** Collects checked sources for a report. `wiki_id` is "" for all wikis. */
export function openReport(wiki_id: string) {
  const sources: object[] = [];
  return {
    add(source: StoredSource, checked: CheckedSource, pages: readonly CheckedPage[]): void {
      const { filename, source_id, extractor_version, byte_size } = source;
      sources.push({
        wiki_id: source.wiki_id,
        source_id,
        filename,
        byte_size: Number(byte_size),
        file_sha256: source.sha256,
        text_sha256: hash('sha256', source.text),
        extractor_version,
        ...checked,
        pages,
      });
    },
    /** Returns the report as JSON: `record` is a text, and `signature` its Ed25519 signature in Base64. */
    signed({ private_key, public_key }: ReportKey): string {
      const record = JSON.stringify({
        format: 'ibid-verification-1',
        made_at: new Date().toISOString(),
        wiki_id,
        how: HOW,
        sources,
      });
      const signature = sign(null, Buffer.from(record), private_key).toString('base64');
      return `${JSON.stringify({ record, signature, public_key }, null, 2)}\n`;
    },
  };
}
