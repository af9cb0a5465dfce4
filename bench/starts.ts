import { rm } from 'node:fs/promises';
import { median } from './median.ts';
import { startServiceProcess } from './service-process.ts';

/** Medians of the time from the start of the process to the first 200 of /readyz. */
export interface Starts {
  first_ms: number;
  next_ms: number;
}

/**
 * Measures first starts, which create the database, and next starts, which find it. Leaves the last folder at
 * `dataDir`.
 */
export async function measureStarts(dataDir: string, count: number): Promise<Starts> {
  const [first, next]: [number[], number[]] = [[], []];
  for (let i = 0; i < count; i += 1) {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    for (const times of [first, next]) {
      const started = await startServiceProcess(dataDir);
      times.push(started.ready_ms);
      await started.stop();
    }
  }
  return { first_ms: median(first), next_ms: median(next) };
}
