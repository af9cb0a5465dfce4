import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unprivilegedAccount } from '@ibid/postgres-server/account.ts';
import { cleanUp } from '../clean-up.ts';
import { freePort, makeFolder } from '../process.ts';
import { until } from '../until.ts';

const CONFIG = fileURLToPath(new URL('../../deploy/patroni/', import.meta.url));
const BINARIES = '/usr/lib/postgresql/15/bin';
const PASSWORD = 'of-the-test';

/** CLUSTER_LOGS: an existing folder for the logs of all processes. Uses the first `patroni` in PATH. */
const LOGS = process.env.CLUSTER_LOGS;

export interface Node {
  name: string;
  /** Addresses of PostgreSQL and of Patroni's API, as host:port. */
  at: string;
  api: string;
  start(): void;
  /** Ends Patroni and PostgreSQL like a power failure. */
  kill(): Promise<void>;
  /** Asks Patroni whether the node has this role; false without an answer. */
  is(role: 'primary' | 'replica' | 'replica?lag=1MB' | 'sync'): Promise<boolean>;
}

const NAMES = ['node-1', 'node-2', 'node-3'];

/** Starts three Patroni nodes on one etcd with HAProxy in front, and the files of deploy/patroni. All end with the test. */
export async function startPatroniCluster(): Promise<{
  nodes: Node[];
  proxyPort: number;
  superuser: string;
}> {
  const folder = await makeFolder();
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  if (account) chownSync(folder, account.uid, account.gid);
  const run = (program: string, args: string[], env: Record<string, string> = {}) => {
    const out = openSync(join(LOGS ?? folder, `${env.PATRONI_NAME ?? program}.log`), 'a');
    const child = spawn(program, args, {
      ...account,
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', out, out],
    });
    cleanUp(() => kill(child));
    return child;
  };
  const [client, peer, proxyPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const etcd = `http://127.0.0.1:${client}`;
  run('etcd', [
    ...[
      '--name',
      'etcd',
      '--data-dir',
      join(folder, 'etcd'),
      '--listen-client-urls',
      etcd,
      '--advertise-client-urls',
      etcd,
    ],
    ...['--listen-peer-urls', `http://127.0.0.1:${peer}`, '--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
    ...['--initial-cluster', `etcd=http://127.0.0.1:${peer}`],
  ]);
  await until('etcd answers', () => answers(`${etcd}/health`));
  const nodes = await Promise.all(
    NAMES.map(async (name) => {
      // All nodes share a folder for their sockets, which are named by port.
      const [port, api] = await Promise.all([freePort(), freePort()]);
      const data = join(folder, name);
      mkdirSync(data, { recursive: true });
      if (account) chownSync(data, account.uid, account.gid);
      const places = { at: `127.0.0.1:${port}`, api: `127.0.0.1:${api}`, data: join(data, 'postgres') };
      return openNode({ ...places, name, etcd: `127.0.0.1:${client}`, run });
    }),
  );
  for (const node of nodes) node.start();
  await until(
    'there is a primary with a synchronous standby and a replica',
    async () => {
      const of = async (role: Parameters<Node['is']>[0]) =>
        (await Promise.all(nodes.map((node) => node.is(role)))).filter(Boolean);
      return [(await of('primary')).length, (await of('sync')).length, (await of('replica')).length].join();
    },
    (seen) => seen === '1,1,2',
  );
  run('haproxy', ['-f', join(CONFIG, 'haproxy.cfg')], {
    PRIMARY_BIND: `127.0.0.1:${proxyPort}`,
    ...Object.fromEntries(
      nodes.flatMap(({ at, api }, i) => [
        [`NODE_${i + 1}`, at],
        [`NODE_${i + 1}_API`, api.split(':')[1] ?? ''],
      ]),
    ),
  });
  return { nodes, proxyPort, superuser: `postgres:${PASSWORD}` };
}

function openNode(options: {
  name: string;
  at: string;
  api: string;
  data: string;
  etcd: string;
  run: (program: string, args: string[], env: Record<string, string>) => ChildProcess;
}): Node {
  const { name, at, api, data, etcd, run } = options;
  let patroni: ChildProcess | undefined;
  const killPostgres = () => {
    const file = join(data, 'postmaster.pid');
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0;
    try {
      if (pid > 0) process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  // PostgreSQL outlives Patroni.
  cleanUp(killPostgres);
  return {
    name,
    at,
    api,
    start() {
      const env = {
        PATRONI_NAME: name,
        PATRONI_ETCD3_HOSTS: etcd,
        PATRONI_RESTAPI_LISTEN: api,
        PATRONI_RESTAPI_CONNECT_ADDRESS: api,
        PATRONI_POSTGRESQL_LISTEN: at,
        PATRONI_POSTGRESQL_CONNECT_ADDRESS: at,
        PATRONI_POSTGRESQL_DATA_DIR: data,
        PATRONI_POSTGRESQL_BIN_DIR: BINARIES,
        // For psql in the script that patroni.yaml runs after a promotion.
        PGPORT: at.split(':')[1] ?? '',
        PATRONI_POSTGRESQL_PGPASS: `${data}.pgpass`,
        PATRONI_SUPERUSER_USERNAME: 'postgres',
        PATRONI_SUPERUSER_PASSWORD: PASSWORD,
        PATRONI_REPLICATION_USERNAME: 'replicator',
        PATRONI_REPLICATION_PASSWORD: PASSWORD,
        PATRONI_REWIND_USERNAME: 'rewinder',
        PATRONI_REWIND_PASSWORD: PASSWORD,
      };
      patroni = run('patroni', [join(CONFIG, 'patroni.yaml')], env);
    },
    async kill() {
      if (patroni) await kill(patroni);
      killPostgres();
    },
    is: (role) => answers(`http://${api}/${role}`),
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const answers = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
