import { DamagedObject } from '../encryption.ts';
import type { Content } from '../measure.ts';

const BLOCK = 512;

export interface TarEntry {
  /** A relative path with slashes. */
  name: string;
  isFolder: boolean;
  byte_size: number;
  /** Must be read before the next entry is requested; unread content is skipped. */
  content: AsyncGenerator<Uint8Array>;
}

/**
 * Reads a tar file as PostgreSQL writes base backups: POSIX ustar with files and folders, whose names stay below the
 * target folder. Throws DamagedObject.
 */
export async function* readTar(content: Content): AsyncGenerator<TarEntry> {
  const bytes = openBytes(content);
  try {
    for (;;) {
      const header = await bytes.take(BLOCK);
      if (!header || header.every((byte) => byte === 0)) break;
      const { name, isFolder, byte_size } = readHeader(header);
      let left = byte_size;
      const part = async function* () {
        while (left > 0) {
          const chunk = await bytes.some(left);
          left -= chunk.length;
          yield chunk;
        }
      };
      yield { name, isFolder, byte_size, content: part() };
      for await (const _ of part());
      const padding = (BLOCK - (byte_size % BLOCK)) % BLOCK;
      if (padding > 0) await bytes.take(padding);
    }
    await bytes.rest();
  } finally {
    await bytes.close();
  }
}

function readHeader(header: Buffer): Omit<TarEntry, 'content'> {
  const text = (from: number, length: number) => header.toString('utf8', from, from + length).replace(/\0.*$/s, '');
  const octal = (from: number, length: number) => Number.parseInt(text(from, length).trim() || '0', 8);
  const sum = header.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (sum !== octal(148, 8)) throw new DamagedObject('a header in its archive has a wrong checksum');
  const name = text(0, 100).replace(/\/$/, '');
  const type = text(156, 1);
  const byte_size = octal(124, 12);
  const isInside = name !== '' && !name.startsWith('/') && !name.split('/').includes('..');
  if (!isInside || !['', '0', '5'].includes(type) || !Number.isSafeInteger(byte_size)) {
    throw new DamagedObject(
      `its archive has an entry that is not allowed in a base backup: ${JSON.stringify(name)}, type ${type}`,
    );
  }
  return { name, isFolder: type === '5', byte_size };
}

/** Reads a stream of chunks in pieces of any size. */
function openBytes(content: Content) {
  const source = content[Symbol.asyncIterator]();
  let have: Uint8Array = new Uint8Array(0);
  /** Reads at least one byte and at most `max`. */
  async function some(max: number): Promise<Uint8Array> {
    while (have.length === 0) {
      const { value, done } = await source.next();
      if (done) throw new DamagedObject('its archive is truncated');
      have = value;
    }
    const part = have.subarray(0, max);
    have = have.subarray(part.length);
    return part;
  }
  return {
    some,
    /** Reads exactly `count` bytes; returns undefined at the end. */
    async take(count: number): Promise<Buffer | undefined> {
      const parts: Uint8Array[] = [];
      for (let left = count; left > 0; ) {
        if (have.length === 0) {
          const { value, done } = await source.next();
          if (done && parts.length === 0) return undefined;
          if (done) throw new DamagedObject('its archive is truncated');
          have = value;
          continue;
        }
        const part = await some(left);
        left -= part.length;
        parts.push(part);
      }
      return Buffer.concat(parts);
    },
    /** Reads to the end, where the source verifies its hash. */
    async rest(): Promise<void> {
      while (!(await source.next()).done);
    },
    close: async () => void (await source.return?.()),
  };
}
