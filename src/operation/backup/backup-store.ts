import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Objects } from '../../platform/providers/storage/objects.ts';
import { DamagedObject, decrypted, encrypted, nameWithKey } from './encryption.ts';
import type { Manifest } from './manifest.ts';
import { type Content, measure, type Stored } from './measure.ts';

/** The backups in a folder or bucket; objects are encrypted if there is a key. */
export type BackupStore = ReturnType<typeof openBackupStore>;

const ALTERED = 'its bytes have changed since they were stored';

const sumOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
/** Length of a hexadecimal SHA-256 and its line break. */
const SUM_BYTES = 65;

export function openBackupStore(objects: Objects, key: Buffer | undefined) {
  const manifestOf = (id: string) => `backups/${id}/manifest`;

  async function write(name: string, content: Content): Promise<Stored> {
    const measured = measure();
    await objects.put(
      name,
      Readable.from(measured.of(key ? encrypted(key, name, content) : content), { objectMode: false }),
    );
    return measured.result();
  }

  /** Reads an object. With `stored`, compares size and hash at the end. Throws ENOENT or DamagedObject. */
  async function* read(name: string, stored?: Stored): AsyncGenerator<Uint8Array> {
    const measured = measure();
    const bytes: Content = measured.of(await objects.stream(name));
    yield* key ? decrypted(key, name, bytes) : bytes;
    const { sha256, byte_size } = measured.result();
    if (stored && (stored.sha256 !== sha256 || stored.byte_size !== byte_size)) {
      throw new DamagedObject(ALTERED);
    }
  }

  /** Writes content with its own hash in front. */
  async function writeSealed(name: string, content: Buffer): Promise<void> {
    await write(name, Readable.from([Buffer.concat([Buffer.from(`${sumOf(content)}\n`), content])]));
  }

  /** Reads and verifies such content. Throws ENOENT or DamagedObject. */
  async function readSealed(name: string): Promise<Buffer> {
    const bytes = await buffer(read(name));
    const content = bytes.subarray(SUM_BYTES);
    if (bytes.subarray(0, SUM_BYTES).toString('latin1') !== `${sumOf(content)}\n`) throw new DamagedObject(ALTERED);
    return content;
  }

  return {
    isEncrypted: key !== undefined,
    write,
    read,
    writeSealed,
    readSealed,
    names: objects.list,
    removeObject: objects.remove,
    has: objects.has,
    /** Returns the name of a file, which all backups share. */
    fileName(sha256: string): string {
      const name = key ? nameWithKey(key, sha256) : sha256;
      return `files/${name.slice(0, 2)}/${name}`;
    },
    /** Completes a backup: a backup exists as soon as its manifest does. */
    async complete(manifest: Manifest): Promise<void> {
      const text = JSON.stringify(manifest, null, 2);
      await write(manifestOf(manifest.backup_id), Readable.from([Buffer.from(`${sumOf(text)}\n${text}\n`)]));
    },
    /** Reads a manifest. Throws ENOENT if no complete backup has this id, or DamagedObject. */
    async manifest(backup_id: string): Promise<Manifest> {
      const text = (await buffer(read(manifestOf(backup_id)))).toString();
      const json = text.slice(65, -1);
      if (text !== `${sumOf(json)}\n${json}\n`) throw new DamagedObject(ALTERED);
      return JSON.parse(json) as Manifest;
    },
    manifestOf,
    /** Returns the ids of complete backups, the oldest first. */
    async list(): Promise<string[]> {
      const ids: string[] = [];
      for await (const name of objects.list('backups/')) {
        const [, id] = /^backups\/([^/]+)\/manifest$/.exec(name) ?? [];
        if (id !== undefined) ids.push(id);
      }
      return ids.sort();
    },
    /** Removes a backup, its manifest first, but not the files that it shares with other backups. */
    async remove(backup_id: string): Promise<void> {
      await objects.remove(manifestOf(backup_id));
      for await (const name of objects.list(`backups/${backup_id}/`)) await objects.remove(name);
    },
    /** Removes files that are not in `needed`; returns their number. */
    async removeFilesBut(needed: ReadonlySet<string>): Promise<number> {
      let removed = 0;
      for await (const name of objects.list('files/')) {
        if (needed.has(name)) continue;
        await objects.remove(name);
        removed += 1;
      }
      return removed;
    },
    /** Removes the objects of backups that were killed, which have no manifest. */
    async removeUnfinished(): Promise<void> {
      const complete = new Set(await this.list());
      for await (const name of objects.list('backups/')) {
        if (!complete.has(name.split('/')[1] ?? '')) await objects.remove(name);
      }
    },
  };
}
