import '../bin/prepare.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import { openDb } from '../src/platform/db/db.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { generatedFiles } from './generated.ts';
import { allProse, proseRates } from './prose.ts';

/** Rewrites the generated files. With `--quick` only those that need no running service. */
const folder = await mkdtemp(join(tmpdir(), 'ibid-accept-'));
const postgres = await startPostgres({ dataDir: folder, log: () => undefined });
const db = openDb({ connection: postgres.connection, connections: 1 });
try {
  await migrate(db);
  for (const [name, text] of Object.entries(await generatedFiles(db.query))) {
    await writeFile(new URL(`../${name}`, import.meta.url), text);
    process.stdout.write(`${name} is written\n`);
  }
} finally {
  await db.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

await lowerProseLimits();

// These need a running service, so their tests write them.
if (!process.argv.includes('--quick')) {
  await acceptBy('matrix.txt', 'matrix.test.ts', { ACCEPT_MATRIX: 'yes' });
  await acceptBy('bench/budgets.json', 'statements.test.ts', { ACCEPT_BUDGETS: 'yes' });
}

/** Records the rate of each folder as its limit, unless the limit is lower already. */
async function lowerProseLimits(): Promise<void> {
  const file = new URL('prose-limits.json', import.meta.url);
  const limits: Record<string, number> = JSON.parse(await readFile(file, 'utf8'));
  const { folders } = proseRates(allProse());
  const lowered = Object.entries(folders).map(([folder, rate]) => [folder, Math.min(rate, limits[folder] ?? rate)]);
  await writeFile(file, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`);
  process.stdout.write('test/prose-limits.json is written\n');
}

async function acceptBy(name: string, test: string, more: Record<string, string>): Promise<void> {
  const runner = fileURLToPath(new URL('run.ts', import.meta.url));
  const file = fileURLToPath(new URL(test, import.meta.url));
  const env = { ...process.env, ...more };
  const asking = spawn(process.execPath, [runner, '--all', file], { stdio: ['ignore', 'ignore', 'inherit'], env });
  const [code] = await once(asking, 'exit');
  process.stdout.write(code === 0 ? `${name} is written\n` : `${name} breaks a rule: run test/${test} to see which\n`);
  process.exitCode ||= code;
}
