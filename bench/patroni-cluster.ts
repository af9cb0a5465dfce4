import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unprivilegedAccount } from '../src/db/postgres/account.ts';
import { cleanUp } from '../test/clean-up.ts';
import { freePort, makeFolder } from '../test/process.ts';
import { until } from '../test/until.ts';
import { type Host, makeHosts } from './separate-hosts.ts';

const CONFIG = fileURLToPath(new URL('../deploy/patroni/', import.meta.url));
const BINARIES = '/usr/lib/postgresql/15/bin';
const PASSWORD = 'of-the-test';

/** CLUSTER_LOGS: a folder that exists, where the logs of all processes are kept. The first `patroni` in PATH runs. */
const LOGS = process.env.CLUSTER_LOGS;

export interface Node {
  name: string;
  /** Where PostgreSQL listens, as host:port, and where Patroni does. */
  at: string;
  api: string;
  /** Where it runs, if that is not this machine itself. */
  host: Host | undefined;
  start(): void;
  /** Ends Patroni and PostgreSQL as a power cut does. */
  kill(): Promise<void>;
  /** Asks Patroni whether the node is that; false without an answer. */
  is(role: 'primary' | 'replica' | 'replica?lag=1MB' | 'sync'): Promise<boolean>;
}

const NAMES = ['node-1', 'node-2', 'node-3'];

/**
 * With an earlier Patroni and etcd a primary that wakes up after its lease has expired writes its name over that of the new one
 * (https://github.com/patroni/patroni/pull/2689), which is then rewound.
 */
const PATRONI_MIN = '3.0.3';

function sayVersion(): void {
  const version = execFileSync('patroni', ['--version'], { encoding: 'utf8' }).trim().replace('patroni ', '');
  const isOld = version.localeCompare(PATRONI_MIN, 'en', { numeric: true }) < 0;
  console.log(`Patroni ${version}${isOld ? `: before ${PATRONI_MIN} a primary that was frozen loses writes` : ''}`);
}

/**
 * Three nodes of Patroni on one etcd, with HAProxy before them, by the files of deploy/patroni. All end with the test.
 * `onHosts`: each node has a network and a file system of its own; needs root.
 */
export async function startPatroniCluster({ onHosts = false } = {}): Promise<{
  nodes: Node[];
  proxyPort: number;
  superuser: string;
}> {
  sayVersion();
  const folder = await makeFolder();
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  if (account) chownSync(folder, account.uid, account.gid);
  if (onHosts && !account) throw new Error('hosts of their own are made by root');
  const { gateway, hosts } =
    onHosts && account ? makeHosts(NAMES, folder, account) : { gateway: '127.0.0.1', hosts: [] };
  const run = (program: string, args: string[], env: Record<string, string> = {}, host?: Host) => {
    const out = openSync(join(LOGS ?? folder, `${env.PATRONI_NAME ?? program}.log`), 'a');
    const [first = '', ...rest] = [...(host?.prefix ?? []), program, ...args];
    const child = spawn(first, rest, {
      ...(host ? {} : account),
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', out, out],
    });
    cleanUp(() => kill(child));
    return child;
  };
  const [client, peer, proxyPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const etcd = `http://${gateway}:${client}`;
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
    NAMES.map(async (name, i) => {
      // The sockets of all nodes are in one folder, by their ports.
      const [port, api] = await Promise.all([freePort(), freePort()]);
      const host = hosts[i];
      const data = host?.folder ?? join(folder, name);
      mkdirSync(data, { recursive: true });
      if (account && !host) chownSync(data, account.uid, account.gid);
      const address = host?.address ?? gateway;
      const places = { at: `${address}:${port}`, api: `${address}:${api}`, data: join(data, 'postgres') };
      return openNode({ ...places, name, host, etcd: `${gateway}:${client}`, run });
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
  host: Host | undefined;
  data: string;
  etcd: string;
  run: (program: string, args: string[], env: Record<string, string>, host?: Host) => ChildProcess;
}): Node {
  const { name, at, api, host, data, etcd, run } = options;
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
    host,
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
        // For psql in what patroni.yaml runs after a promotion.
        PGPORT: at.split(':')[1] ?? '',
        PATRONI_POSTGRESQL_PGPASS: `${data}.pgpass`,
        PATRONI_SUPERUSER_USERNAME: 'postgres',
        PATRONI_SUPERUSER_PASSWORD: PASSWORD,
        PATRONI_REPLICATION_USERNAME: 'replicator',
        PATRONI_REPLICATION_PASSWORD: PASSWORD,
        PATRONI_REWIND_USERNAME: 'rewinder',
        PATRONI_REWIND_PASSWORD: PASSWORD,
      };
      patroni = run('patroni', [join(CONFIG, 'patroni.yaml')], env, host);
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
