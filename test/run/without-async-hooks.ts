import { createHook } from 'node:async_hooks';

/**
 * node:test follows every promise of a test file by async_hooks, to name the test of an uncaught error. That makes each
 * await some thirty times as expensive, also in a service in the same process. Without it, such an error still fails
 * its file, but hooks that a test sets after an await run at the end of the file.
 */
const hooks: object = Object.getPrototypeOf(createHook({}));
const { enable } = hooks as { enable(): unknown };
Object.assign(hooks, {
  enable() {
    return new Error().stack?.includes('node:internal/test_runner') ? this : enable.call(this);
  },
});
