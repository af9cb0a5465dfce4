import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildWhenNeeded, isBuilt } from './when-needed.js';

/** Serves like `npm start`, with a readable log, and rebuilds and restarts when a source changes. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** An editor may write several files at once. */
const QUIET_MS = 100;

let service: ChildProcess | undefined;
let turn = Promise.resolve();
let timer: NodeJS.Timeout | undefined;

async function serve(): Promise<void> {
  // If the build fails, the last one keeps running.
  if (!buildWhenNeeded()) return;
  await stop();
  service = spawn(process.execPath, ['--max-semi-space-size=4', 'dist/main.mjs'], {
    cwd: ROOT,
    env: { LOG_FORMAT: 'text', ...process.env },
    stdio: 'inherit',
  });
}

async function stop(): Promise<void> {
  if (!service || service.exitCode !== null || service.signalCode !== null) return;
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  await ended;
}

for (const folder of ['packages', 'src', 'web']) {
  watch(ROOT + folder, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      turn = turn.then(() => (isBuilt() ? undefined : serve()));
    }, QUIET_MS);
  });
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stop().then(() => process.exit()));
}
turn = serve();
