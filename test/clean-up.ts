import { after } from 'node:test';

const steps: (() => unknown)[] = [];

/** A step that takes longer hangs. */
const STEP_MS = 60_000;

/**
 * Runs after the tests of the file, in reverse order: a folder can only be removed after the service in it has ended. All steps
 * run, whatever one of them meets: what is left running keeps the file from ending. (Of the hooks of node:test none runs after
 * one that failed.)
 */
export function cleanUp(step: () => unknown): void {
  steps.push(step);
}

after(async () => {
  const errors: unknown[] = [];
  for (const step of steps.reverse()) await run(step).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
});

async function run(step: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`cleaning up hangs: ${step}`)), STEP_MS);
  });
  try {
    await Promise.race([step(), hangs]);
  } finally {
    clearTimeout(timer);
  }
}
