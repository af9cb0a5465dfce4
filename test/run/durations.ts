import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, ROOT } from './cache.ts';

const FILE = join(CACHE, 'durations.json');
/** Of a file that was not run yet: its tests take about as long as they are. */
const BYTES_A_SECOND = 1_000;

/** How many seconds test files took in their last run, in any checkout. */
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
      // Files outside the checkout are those of the runner's own tests.
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

/** None if there was no run before, or if the file is damaged. */
function readKnown(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
