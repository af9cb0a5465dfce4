import { createHook } from 'node:async_hooks';

/**
 * node:test follows every promise of a test file by async_hooks, to name the test of an error that was not caught. That makes
 * an await some thirty times as expensive, in the service that runs in the same process too. Such an error still fails its
 * file; hooks that are set after an await in a test run at the end of the file.
 */
const hooks: object = Object.getPrototypeOf(createHook({}));
const { enable } = hooks as { enable(): unknown };
Object.assign(hooks, {
  enable() {
    return new Error().stack?.includes('node:internal/test_runner') ? this : enable.call(this);
  },
});
