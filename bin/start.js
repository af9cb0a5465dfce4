import { madeBefore } from './made-before.js';

const args = process.argv.slice(2);
// `ibid start` comes here too, and so does the process for jobs. Other arguments ask for help, or are wrong.
if (args.length === 0 || args[0] === 'start' || args[0] === '--worker-process') {
  await import(madeBefore('main') ?? '../src/main.ts');
} else {
  const { runCli } = await import('./cli.js');
  await runCli(['start', ...args]);
}
