import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, ROOT } from './cache.ts';

const FILE = join(CACHE, 'durations.json');
/** Estimates a file without a known duration by its size. */
const BYTES_A_SECOND = 1_000;

/** Duration in seconds of each test file's last run, in any checkout. */
export interface Durations {
  of(file: string): number;
  set(file: string, seconds: number): void;
  save(): void;
}

export function openDurations(): Durations {
  const known = readKnown();
  return {
    of: (file) => known[file] ?? statSync(join(ROOT, file)).size / BYTES_A_SECOND,
    set(file, seconds) {
      // Files outside the checkout belong to the runner's own tests.
      if (!file.startsWith('..')) known[file] = Math.round(seconds * 10) / 10;
    },
    save() {
      mkdirSync(CACHE, { recursive: true, mode: 0o700 });
      const unfinished = `${FILE}.${process.pid}`;
      writeFileSync(unfinished, JSON.stringify(known));
      renameSync(unfinished, FILE);
    },
  };
}

/** Returns the saved durations; none before the first run, or if the file is damaged. */
function readKnown(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
