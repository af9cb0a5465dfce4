import { after } from 'node:test';
import { inTime } from './until.ts';

const steps: (() => unknown)[] = [];

/**
 * Registers a step that runs after the tests of the file, in reverse order: a folder can only be removed after the
 * service in it has ended. All steps run even if some fail, because a process left running would keep the file from
 * ending. (node:test skips the remaining `after` hooks once a hook has failed.)
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
