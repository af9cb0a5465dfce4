import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const MAGIC = Buffer.from('IBIDENC1');
const SALT_BYTES = 32;
const TAG_BYTES = 16;

/** Bytes of a plaintext chunk; only the last chunk may be shorter. */
const CHUNK = 65_536;

/** Thrown if an object is not the object that was stored under its name with this key. */
export class DamagedObject extends Error {}

/** Parses a key: 32 random bytes as 64 hexadecimal digits. Throws an Error that describes the expected file. */
export function readKey(text: string): Buffer {
  if (!/^[0-9a-f]{64}$/i.test(text.trim())) {
    throw new Error(
      'BACKUP_KEY_FILE must be a file with 64 hexadecimal digits: create one with "openssl rand -hex 32 > backup.key".',
    );
  }
  return Buffer.from(text.trim(), 'hex');
}

/** Derives a name that reveals nothing about the content without the key. */
export function nameWithKey(key: Buffer, sha256: string): string {
  return createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'ibid backup names', 32)))
    .update(sha256)
    .digest('hex');
}

/**
 * Encrypts an object by AES-256-GCM in chunks. Each object has a key of its own, derived from a random salt and its
 * name, so that no object can stand for another. The nonce counts the chunks and marks the last one, so that no chunk
 * can be omitted, moved, repeated or added.
 */
export async function* encrypted(
  key: Buffer,
  name: string,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES);
  const own = deriveKey(key, salt, name);
  yield Buffer.concat([MAGIC, salt]);
  let count = 0;
  for await (const { chunk, isLast } of inChunks(content, CHUNK)) {
    const cipher = createCipheriv('aes-256-gcm', own, nonceOf(count++, isLast));
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Decrypts the output of `encrypted`; every yielded chunk is authenticated. Throws DamagedObject. */
export async function* decrypted(
  key: Buffer,
  name: string,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const source = content[Symbol.asyncIterator]();
  try {
    const head = await readHead(source);
    const own = deriveKey(key, head.subarray(MAGIC.length, MAGIC.length + SALT_BYTES), name);
    const rest = async function* () {
      yield head.subarray(MAGIC.length + SALT_BYTES);
      yield* { [Symbol.asyncIterator]: () => source };
    };
    let count = 0;
    for await (const { chunk, isLast } of inChunks(rest(), CHUNK + TAG_BYTES)) {
      yield decryptChunk(own, nonceOf(count++, isLast), chunk);
    }
  } finally {
    await source.return?.();
  }
}

/** Reads the beginning of the content, at least the magic bytes and the salt. */
async function readHead(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < MAGIC.length + SALT_BYTES) {
    const { value, done } = await source.next();
    if (done) throw new DamagedObject('it is truncated');
    head = Buffer.concat([head, value]);
  }
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) throw new DamagedObject('it is not encrypted like a backup');
  return head;
}

function decryptChunk(key: Buffer, nonce: Buffer, chunk: Buffer): Buffer {
  if (chunk.length < TAG_BYTES) throw new DamagedObject('it is truncated');
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(chunk.subarray(-TAG_BYTES));
  const plain = decipher.update(chunk.subarray(0, -TAG_BYTES));
  try {
    decipher.final();
  } catch (cause) {
    throw new DamagedObject('it was altered or encrypted with another key', { cause });
  }
  return plain;
}

function deriveKey(key: Buffer, salt: Buffer, name: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `ibid backup object ${name}`, 32));
}

function nonceOf(count: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(Math.floor(count / 2 ** 32), 3);
  nonce.writeUInt32BE(count % 2 ** 32, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Splits content into chunks of `size` bytes. The last chunk may be shorter; it is empty only if the content is. */
async function* inChunks(content: AsyncIterable<Uint8Array>, size: number) {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of content) {
    parts.push(part);
    length += part.length;
    if (length <= size) continue;
    const all = Buffer.concat(parts);
    let at = 0;
    for (; all.length - at > size; at += size) yield { chunk: all.subarray(at, at + size), isLast: false };
    parts = [all.subarray(at)];
    length = all.length - at;
  }
  yield { chunk: Buffer.concat(parts), isLast: true };
}
