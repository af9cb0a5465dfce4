import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { OPTIONS } from '../src/operation/config/options.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { cleanUp } from './clean-up.ts';
import { longTest } from './extent.ts';
import { freePort, makeFolder } from './process.ts';

const ROOT = fileURLToPath(PACKAGE);
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The command of `npm start`, without the shell's `exec`. */
const START = JSON.parse(read('package.json')).scripts.start.replace(/^exec /, '');

interface Compose {
  services: Record<
    string,
    {
      build?: { context: string; dockerfile: string };
      environment?: Record<string, string>;
      read_only?: boolean;
      ports?: string[];
    }
  >;
}
const composed = globSync('deploy/compose/*.yaml', { cwd: ROOT }).map((path) => ({
  path,
  compose: parse(read(path), { merge: true }) as Compose,
}));

/** Instructions of the Containerfile with their arguments, in order. */
const instructions = read('deploy/container/Containerfile')
  .replaceAll(/^#.*$/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => /^(\w+) (.*)$/.exec(line.trim())?.slice(1) as [string, string]);
const lastOf = (name: string) => instructions.findLast(([instruction]) => instruction === name)?.[1] ?? '';

test('the image runs as an unprivileged user, and its health check asks only its own process', () => {
  const [, uid = ''] = /^([1-9]\d*):\d+$/.exec(lastOf('USER')) ?? [];
  assert.notEqual(uid, '', 'a number, so that Kubernetes can see that it is not root');
  const runs = instructions.filter(([name]) => name === 'RUN').map(([, command]) => command);
  assert.ok(
    runs.some((command) => command.includes(`--uid ${uid} `)),
    'with a name, which PostgreSQL asks for',
  );
  for (const [name, value] of instructions) {
    if (name === 'FROM') assert.match(value, /^docker\.io\/library\/node:24-\w+-slim\b/, 'glibc, and the same Node');
    if (name === 'RUN') assert.doesNotMatch(value, /curl|wget|apt-get upgrade|--allow-root/);
    assert.notEqual(name, 'ADD');
  }
  const check = lastOf('HEALTHCHECK');
  assert.match(check, /CMD \["node", "deploy\/container\/healthcheck\.js"\]$/);
  const hosts = [...read('deploy/container/healthcheck.js').matchAll(/http:\/\/([^:/]+)/g)].map(([, host]) => host);
  assert.deepEqual(hosts, ['127.0.0.1']);
  assert.equal(JSON.parse(lastOf('ENTRYPOINT')).join(' '), START, 'it starts as npm start does');
  for (const [, name = ''] of lastOf('ENV').matchAll(/(\w+)=/g))
    assert.ok(name in OPTIONS || name === 'NODE_ENV', name);
});

test('the health check of the image fails if the process does not answer, or answers with an error', async () => {
  const port = await freePort();
  const check = (env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [join(ROOT, 'deploy/container/healthcheck.js')], { env }).then(
      () => 0,
      ({ code }) => code,
    );
  assert.equal(await check({ PORT: String(port) }), 1);
  const asked: (string | undefined)[] = [];
  let isAlive = true;
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(isAlive ? 200 : 503).end();
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  cleanUp(() => void server.close());
  assert.equal(await check({ PORT: String(port) }), 0);
  assert.equal(await check({ ROLE: 'worker', METRICS_PORT: String(port) }), 0);
  isAlive = false;
  assert.equal(await check({ PORT: String(port) }), 1);
  assert.deepEqual(asked, ['/livez', '/livez', '/livez']);
});

test('Compose names options that exist, publishes no port to other machines, and runs read-only', () => {
  assert.ok(composed.length >= 2);
  for (const { path, compose } of composed) {
    for (const [name, { build, environment = {}, read_only, ports = [] }] of Object.entries(compose.services)) {
      if (!build) continue;
      assert.equal(build.dockerfile, 'deploy/container/Containerfile');
      assert.equal(read_only, true, `${path}: ${name}`);
      for (const option of Object.keys(environment)) assert.ok(option in OPTIONS, `${path}: ${name}: ${option}`);
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, `${path}: ${name}`);
    }
  }
});

test('systemd accepts the unit, rates it as confined, and gives the service time to stop', async () => {
  const path = join(ROOT, 'deploy/systemd/ibid.service');
  const unit = read('deploy/systemd/ibid.service');
  // The service stops by itself after 15 s, half the time that systemd waits.
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) >= 30);
  for (const line of ['KillMode=mixed', 'DynamicUser=yes', 'StateDirectory=ibid', 'ProtectSystem=strict']) {
    assert.match(unit, new RegExp(`^${line}$`, 'm'));
  }
  for (const [, name = ''] of unit.matchAll(/(?<=^Environment=.*)\b(\w+)=/gm)) {
    assert.ok(name in OPTIONS || name === 'NODE_ENV', name);
  }
  assert.ok(unit.includes(` ${START}\n`), 'it starts as npm start does');
  const analyze = (...args: string[]) => promisify(execFile)('systemd-analyze', args);
  const isInstalled = await analyze('--version').then(
    () => true,
    () => false,
  );
  if (!isInstalled) return;
  assert.equal((await analyze('verify', path)).stderr, '');
  // Fails if the exposure is above 3.0.
  await analyze('security', '--offline=true', '--threshold=30', path);
});

test('the command shipped with the unit has its user, options, data and Node.js, and passes on its arguments', async () => {
  const bin = await makeFolder();
  // Replaces systemd-run, which no test machine has: prints its arguments, one a line.
  await writeFile(join(bin, 'systemd-run'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  const script = join(ROOT, 'deploy/systemd/ibid');
  const { stdout } = await promisify(execFile)(script, ['key', '--name', 'two words'], {
    env: { PATH: `${bin}:/usr/bin:/bin` },
  });
  const asked = stdout.trimEnd().split('\n');
  const properties = asked.filter((line) => line.startsWith('--property=')).map((line) => line.slice(11));
  const unit = read('deploy/systemd/ibid.service').split('\n');
  const ofUnit = properties.filter((line) => line !== 'User=ibid');
  assert.deepEqual(
    ofUnit.filter((line) => !unit.includes(line)),
    [],
    'each is a line of the unit, whose user has the name of the unit',
  );
  for (const name of ['DynamicUser', 'StateDirectory', 'EnvironmentFile', 'Environment', 'WorkingDirectory']) {
    assert.ok(
      ofUnit.some((line) => line.startsWith(`${name}=`)),
      name,
    );
  }
  const command = asked.slice(asked.indexOf('/usr/bin/env'));
  const [, path, node, program, ...args] = command;
  assert.ok(
    unit.some((line) => line.startsWith(`ExecStart=/usr/bin/env ${path} ${node} `)),
    path,
  );
  assert.deepEqual([node, program, args], ['node', 'bin/ibid', ['key', '--name', 'two words']]);
  assert.ok(
    asked.includes('--wait') && asked.includes('--pipe'),
    'its output and its exit code are those of the command',
  );
});

longTest('the archive of npm pack has the build and the files that a start reads, and no tests', async () => {
  const pack = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    maxBuffer: 1e8,
  });
  const [{ files }] = JSON.parse(pack.stdout) as [{ files: { path: string }[] }];
  const packed = new Set(files.map(({ path }) => path));
  const needed = globSync(['bin/*', 'dist/**/*.*', 'schema.sql'], { cwd: ROOT });
  assert.ok(needed.length > 100);
  assert.deepEqual(
    needed.filter((path) => !packed.has(path) && !path.endsWith('.test.ts')),
    [],
  );
  const others = [...packed].filter((path) => /\.test\.ts$|^(?:test|bench|node_modules|data)\//.test(path));
  assert.deepEqual(others, []);
});
