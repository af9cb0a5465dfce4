import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { BackupStore } from '../backup-store.ts';
import { DamagedObject } from '../encryption.ts';
import { historyName, isArchived, readSegment, type Segment } from './segments.ts';

/** A stored segment, or the history of a timeline. */
export interface StoredWal {
  content: Buffer;
  /** Time of PostgreSQL's last write: everything committed before it is in this segment or an earlier one. */
  written_at: string;
}

/** Matches names of file lists below wal/SYSTEM_IDENTIFIER/. */
const LIST = /^files-(.+)$/;

export type WalStore = ReturnType<typeof openWalStore>;

/** Opens the stored WAL of one cluster, with lists of the files that its rows refer to. */
export function openWalStore(store: BackupStore, system_identifier: string) {
  const folder = `wal/${system_identifier}/`;
  const nameOf = (name: string) => folder + name;
  return {
    nameOf,
    has: (name: string) => store.has(nameOf(name)),
    async write(name: string, { content, written_at }: StoredWal): Promise<void> {
      const packed = await promisify(gzip)(content, { level: 1 });
      await store.writeSealed(nameOf(name), Buffer.concat([Buffer.from(`${written_at}\n`), packed]));
    },
    /** Throws ENOENT or DamagedObject. */
    async read(name: string): Promise<StoredWal> {
      const bytes = await store.readSealed(nameOf(name));
      const end = bytes.indexOf(10);
      if (end === -1) throw new DamagedObject('it is truncated');
      return {
        written_at: bytes.subarray(0, end).toString(),
        content: await promisify(gunzip)(bytes.subarray(end + 1)),
      };
    },
    /** Returns the names of segments and histories, and the times of file lists. */
    async list(): Promise<{ names: Set<string>; lists: string[] }> {
      const names = new Set<string>();
      const lists: string[] = [];
      for await (const object of store.names(folder)) {
        const name = object.slice(folder.length);
        const [, time] = LIST.exec(name) ?? [];
        if (time !== undefined) lists.push(time);
        else if (isArchived(name)) names.add(name);
      }
      return { names, lists: lists.sort() };
    },
    /** Reads the history files among these names, by timeline. */
    async histories(names: ReadonlySet<string>): Promise<Map<number, string>> {
      const found = new Map<number, string>();
      for (const name of names) {
        if (readSegment(name)) continue;
        const timeline = Number.parseInt(name, 16);
        found.set(timeline, (await this.read(historyName(timeline))).content.toString());
      }
      return found;
    },
    /** Writes a list of file hashes; `time` is the earliest time at which the files may be referenced. */
    async writeList(time: string, sha256s: readonly string[]): Promise<void> {
      await store.writeSealed(nameOf(`files-${time}`), Buffer.from(sha256s.map((sha256) => `${sha256}\n`).join('')));
    },
    async readList(time: string): Promise<string[]> {
      return (await store.readSealed(nameOf(`files-${time}`))).toString().split('\n').filter(Boolean);
    },
    listName: (time: string) => nameOf(`files-${time}`),
    /**
     * Removes segments before `first` on any timeline, and file lists older than `time`. Returns the number of
     * segments.
     */
    async removeBefore(first: Segment['number'], time: string): Promise<number> {
      const { names, lists } = await this.list();
      const segments = [...names].filter((name) => (readSegment(name)?.number ?? first) < first).sort();
      for (const name of segments) await store.removeObject(nameOf(name));
      for (const made of lists) if (made < time) await store.removeObject(nameOf(`files-${made}`));
      return segments.length;
    },
    async removeAll(): Promise<void> {
      for await (const name of store.names(folder)) await store.removeObject(name);
    },
  };
}

export async function listWalOwners(store: BackupStore): Promise<string[]> {
  const found = new Set<string>();
  for await (const name of store.names('wal/')) found.add(name.split('/')[1] ?? '');
  return [...found];
}
