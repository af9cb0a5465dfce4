import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Packs this checkout and runs the archive, once by npx in an empty folder and once installed there. Both use packages
 * from the registry, the package's own PostgreSQL and the caller's Node.js. Each creates a user, a wiki and a page,
 * reads the rendered page as HTML with its style sheet and by a command, and stops.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'ibid-package-'));
// Leaves out the Node.js of this checkout, as on a machine with only its own.
const PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((part) => !part.includes('node_modules'))
  .join(':');
const env = { PATH, HOME: folder, npm_config_cache: join(folder, 'npm'), PORT: '8099' };

try {
  const { stdout } = await run('npm', ['pack', '--json', `--pack-destination=${folder}`], {
    cwd: ROOT,
    maxBuffer: 1e8,
  });
  const [{ filename, size, entryCount }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  process.stdout.write(`${filename}: ${entryCount} files, ${(size / 2 ** 20).toFixed(1)} MiB\n`);
  await start('by npx', ['--yes', `./${filename}`]);
  await run('npm', ['install', '--ignore-scripts', `./${filename}`], { env, cwd: folder, maxBuffer: 1e8 });
  await start('installed', ['ibid']);
  process.stdout.write('The package runs.\n');
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Starts the service with these arguments of npx on a database of its own, uses it and stops it. */
async function start(way: string, npx: readonly string[]): Promise<void> {
  const options = { env: { ...env, DATA_DIR: join(folder, `data ${way}`) }, cwd: folder, maxBuffer: 1e8 };
  await run('npx', [...npx, 'config', '--check'], options);
  const service = spawn('npx', [...npx, 'start'], { ...options, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  let output = '';
  const ready = new Promise<void>((resolve, reject) => {
    service.stdout.on('data', (text) => (output += text).includes('Ibid serves') && resolve());
    service.once('close', (code) => reject(new Error(`${way}, it ended with ${code}:\n${output}`)));
  });
  const ended = new Promise<number | null>((resolve) => service.once('close', resolve));
  try {
    await ready;
    await useIt(`http://127.0.0.1:${env.PORT}`, async () =>
      (await run('npx', [...npx, 'key', '--email', 'a@b.example'], options)).stdout.trim(),
    );
    const { stdout: doctor } = await run('npx', [...npx, 'doctor'], options);
    assert.match(doctor, /ok {7}service/);
  } finally {
    if (service.exitCode === null) process.kill(-(service.pid ?? 0), 'SIGTERM');
    await ended;
  }
}

async function useIt(address: string, makeKey: () => Promise<string>): Promise<void> {
  const authorization = `Bearer ${await makeKey()}`;
  const post = async (path: string, body?: object) => {
    const headers = { authorization, ...(body && { 'content-type': 'application/json' }) };
    const answer = await fetch(address + path, {
      method: 'POST',
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, text);
    return JSON.parse(text);
  };
  const { overview } = await post('/v1/onboarding');
  const page = await post(`/v1/wikis/${overview.wikis[0].wiki_id}/pages`, {
    title: 'A page',
    markdown: 'Some *words*.\n',
  });
  const read = await fetch(`${address}/v1/wikis/${overview.wikis[0].wiki_id}/pages/${page.page_id}`, {
    headers: { authorization },
  });
  assert.match(await read.text(), /<em>words<\/em>/, 'a confined process has rendered it');
  const html = await (await fetch(`${address}/sign-in`, { headers: { accept: 'text/html' } })).text();
  const [, version = ''] = /\/assets\/(\w+)\//.exec(html) ?? [];
  const packaged = ['mermaid.js', 'pdf-worker.js'].map((name) => `"/assets/${version}/${name}"`).join(' href=');
  for (const [, asset] of `${html} href=${packaged}`.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)) {
    const answer = await fetch(address + asset);
    assert.equal(answer.status, 200, asset);
    assert.ok((await answer.text()).length > 1_000, asset);
  }
}
