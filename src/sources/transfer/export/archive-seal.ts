import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { Signature, type Signatures } from '../../../platform/access/signatures.ts';
import { ATTACHMENTS_FILE, HISTORY_FILE, MANIFEST_FILE, PAGES_FILE, PEOPLE_FILE } from './archive-format.ts';

/** The service's signature over the manifest and all lists. */
export const SEAL_FILE = 'ibid-seal.json';

/** The files that a seal covers. Attachments are covered by the hashes in their list. */
export const SEALED_FILES = [MANIFEST_FILE, PEOPLE_FILE, PAGES_FILE, HISTORY_FILE, ATTACHMENTS_FILE] as const;
type SealedFile = (typeof SEALED_FILES)[number];

export type Hashes = { [name in SealedFile]: string };

export const Seal = Type.Object({ signature: Signature });
export type Seal = Static<typeof Seal>;

const PURPOSE = 'ibid archive of a wiki 1';

export async function sealOf(signatures: Signatures, hashes: Hashes): Promise<Seal> {
  return { signature: await signatures.sign(PURPOSE, textOf(hashes)) };
}

export function sealFile(seal: Seal): Buffer {
  return Buffer.from(`${JSON.stringify(seal, null, 2)}\n`);
}

/** Whether this service made the archive whose files have these hashes. */
export function isSealed(signatures: Signatures, hashes: Hashes, { signature }: Seal): Promise<boolean> {
  return signatures.isSigned(PURPOSE, textOf(hashes), signature);
}

function textOf(hashes: Hashes): string {
  return SEALED_FILES.map((name) => `${name} ${hashes[name]}\n`).join('');
}

export function hashCollector() {
  const hashes = new Map<string, string>();
  return {
    /** Passes the content through and hashes it. */
    hashed(name: SealedFile, content: Readable | Buffer): Readable {
      const source = Buffer.isBuffer(content) ? [content] : content;
      return Readable.from(
        hashing(source, (hash) => hashes.set(name, hash)),
        {
          objectMode: false,
          highWaterMark: 65_536,
        },
      );
    },
    all(): Hashes {
      const missing = SEALED_FILES.find((name) => !hashes.has(name));
      if (missing) throw new Error(`${missing} was not written`);
      return Object.fromEntries(hashes) as Hashes;
    },
  };
}

async function* hashing(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  onEnd: (hash: string) => void,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
  onEnd(hash.digest('hex'));
}

export async function hashOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}
