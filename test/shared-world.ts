import { openWorld, type World } from './world.ts';

let world: Promise<World> | undefined;

/**
 * Returns a service with default options that test files share. The runner puts files that import this module into one
 * process, which saves each of them 3 s of CPU time. Only for tests that see just the workspaces they make: a test that
 * counts statements, stops the service or reads all rows of a table opens its own world.
 */
export function sharedWorld(): Promise<World> {
  world ??= openWorld();
  return world;
}
