import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Returns the command of `npm start` in a checkout: flags for Node and the file. Builds the checkout if necessary.
 * Throws an Error if that command does not run Node.
 */
function startCommand(root: string): string[] {
  execFileSync('npm', ['run', '--silent', 'prestart'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [node, ...rest] = (scripts.start as string).replace(/^exec /, '').split(' ');
  if (node !== 'node') throw new Error('npm start no longer begins with "node": update startCommand');
  return rest;
}

export interface ServiceProcess {
  pid: number;
  address: string;
  port: number;
  /** From the start of the process to the first 200 of /readyz. */
  ready_ms: number;
  stop(): Promise<void>;
}

/** Returns the options of the service for every benchmark. The caller's options are not inherited. */
export function serviceEnv(dataDir: string): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LD_LIBRARY_PATH } = process.env;
  return { PATH, HOME, TMPDIR, LD_LIBRARY_PATH, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', RATE_LIMITS: 'off' };
}

/**
 * Starts the service as an operator does, and waits until it is ready. `flags` are for Node, `more` are options of the
 * service, `root` is another checkout than this one.
 */
export async function startServiceProcess(
  dataDir: string,
  flags: readonly string[] = [],
  more: Record<string, string> = {},
  root = ROOT,
): Promise<ServiceProcess> {
  const command = startCommand(root);
  const begin = performance.now();
  const child = spawn(process.execPath, [...flags, ...command], {
    cwd: root,
    env: { ...serviceEnv(dataDir), ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const address = await servedAddress(child);
  const answer = await fetch(`${address}/readyz`);
  if (answer.status !== 200) throw new Error(`/readyz answers ${answer.status} after the start: see what it logged`);
  const ready_ms = performance.now() - begin;
  return {
    pid: child.pid ?? 0,
    address,
    port: Number(new URL(address).port),
    ready_ms,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function servedAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the service ended at its start with ${code}: see what it logged`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk;
      const address = /^Ibid serves (http:\S+)/m.exec(text)?.[1];
      if (address) resolve(address);
    });
  });
}

/** Creates a personal API key as an operator does; `root` is another checkout than this one. */
export async function makeKeyFor(dataDir: string, email: string, root = ROOT): Promise<string> {
  const child = spawn(process.execPath, [join(root, 'bin/ibid'), 'key', '--email', email], {
    env: serviceEnv(dataDir),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`ibid key ended with ${code}: see what it wrote`);
  return text.trim();
}
