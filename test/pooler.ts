import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Postgres } from '@ibid/postgres-server/postgres.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { cleanUp } from './clean-up.ts';
import { freePort, makeFolder } from './process.ts';
import { until } from './until.ts';

type Connection = Postgres['connection'];

/**
 * Starts a pooler that silently drops start options, as PgBouncer does with `ignore_startup_parameters = options`, in
 * front of a PostgreSQL. Returns its port. It is stopped after the tests of the file.
 */
export async function openForgetfulPooler({ host, port }: Connection): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const backend = connect(`${host}/.s.PGSQL.${port}`);
    for (const socket of [client, backend]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => (socket === client ? backend : client).destroy());
    }
    client.once('data', (startup: Buffer) => {
      backend.write(withoutOptions(startup));
      client.pipe(backend);
      backend.pipe(client);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

/**
 * Removes the options from a StartupMessage: its length, the protocol version, then names and values, each ending in
 * NUL.
 */
function withoutOptions(startup: Buffer): Buffer {
  const words = startup.toString('utf8', 8, startup.readInt32BE(0) - 2).split('\0');
  const kept = words.filter((_, i) => words[i - (i % 2)] !== 'options');
  const body = Buffer.from(`${kept.join('\0')}\0\0`);
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeInt32BE(head.length + body.length);
  return Buffer.concat([head, body]);
}

const PLACES = ['/usr/sbin/pgbouncer', new URL('../shared/tools/pgbouncer/pgbouncer', PACKAGE).pathname];

/**
 * Installed PgBouncer programs that support prepared statements in transaction mode (1.21 or later); Debian\'s is
 * older.
 */
export const PGBOUNCER = PLACES.filter(existsSync).filter((place) => {
  const [, minor = '0'] = /PgBouncer 1\.(\d+)/.exec(execFileSync(place, ['--version'], { encoding: 'utf8' })) ?? [];
  return Number(minor) >= 21;
});

/** Starts PgBouncer in transaction mode in front of a PostgreSQL, for logins of `ibid_service`. Returns its port. */
export async function startPgBouncer(
  program: string,
  { host, port }: Connection,
  maxPreparedStatements: number,
): Promise<number> {
  const [folder, listen_port] = await Promise.all([makeFolder(), freePort()]);
  const settings = join(folder, 'pgbouncer.ini');
  await writeFile(join(folder, 'users.txt'), '"ibid_service" ""\n');
  await writeFile(
    settings,
    `[databases]
* = host=${host} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listen_port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = 4
max_prepared_statements = ${maxPreparedStatements}
`,
  );
  // PgBouncer refuses to run as root, and only the socket's owner can reach the socket.
  const { uid, gid } = statSync(join(host, `.s.PGSQL.${port}`));
  await Promise.all([chmod(folder, 0o755), ...(process.getuid?.() === 0 ? [chown(folder, uid, gid)] : [])]);
  const server = spawn(program, [settings], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
  let log = '';
  server.stderr.on('data', (chunk) => {
    log += chunk;
  });
  cleanUp(() => stop(server));
  await until(`PgBouncer listens: ${log}`, () => server.exitCode !== null || isOpen(listen_port));
  if (server.exitCode !== null) throw new Error(`PgBouncer ended: ${log}`);
  return listen_port;
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  server.kill('SIGQUIT');
  await once(server, 'exit');
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
