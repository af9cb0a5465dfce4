import '../bin/prepare.js';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LONG_RUNS } from './run/long-runs.ts';

/** `npm run test:long -- NAME [arguments]`: runs the commands of a long run, and stops at the first failure. */
const [name = '', ...more] = process.argv.slice(2);
const run = LONG_RUNS[name];
if (run) {
  for (const { args, env } of run.commands) {
    const { status } = spawnSync(process.execPath, [...args, ...more], {
      cwd: fileURLToPath(new URL('../', import.meta.url)),
      env: { ...process.env, ...env },
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(status ?? 1);
  }
} else {
  const lines = Object.entries(LONG_RUNS).map(([each, { what }]) => `  ${each.padEnd(10)}  ${what}\n`);
  process.stderr.write(`Usage: npm run test:long -- NAME\n${lines.join('')}`);
  process.exit(1);
}
