import { madeBefore } from './made-before.js';

/**
 * Runs a command of src/cli.
 * @param {readonly string[]} args Its name and what it is given.
 */
export async function runCli(args) {
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  await import(madeBefore('cli') ?? (await bundled()));
}

async function bundled() {
  const { serviceModule } = await import('../src/programs/bundled-programs.ts');
  return serviceModule('cli', '../src/cli/ibid.ts');
}
