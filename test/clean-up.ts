import { after } from 'node:test';
import { inTime } from './until.ts';

const steps: (() => unknown)[] = [];

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
  for (const step of steps.reverse())
    await inTime(`cleaning up hangs: ${step}`, (async () => step())()).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
});
