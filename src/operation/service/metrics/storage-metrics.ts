import { statfs } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Gauge, type Registry } from 'prom-client';
import type { Config } from '../../config.ts';

/** Registers the size and free space of the disks that this process writes to. */
export function registerDiskMetrics(registry: Registry, { DATA_DIR, BACKUP_URL }: Config): void {
  const folders = { data: DATA_DIR, ...(BACKUP_URL?.startsWith('file:') && { backups: fileURLToPath(BACKUP_URL) }) };
  const gauge = (name: string, help: string, blocks: 'bavail' | 'blocks') =>
    new Gauge({
      name,
      help,
      labelNames: ['place'],
      registers: [registry],
      async collect() {
        this.reset();
        for (const [place, folder] of Object.entries(folders)) {
          // The first backup creates its folder.
          const disk = await statfs(folder).catch(() => undefined);
          if (disk) this.set({ place }, disk[blocks] * disk.bsize);
        }
      },
    });
  gauge(
    'ibid_disk_free_bytes',
    'Free space for this process on the disk of DATA_DIR, and of a folder for backups.',
    'bavail',
  );
  gauge('ibid_disk_size_bytes', 'Size of that disk.', 'blocks');
}
