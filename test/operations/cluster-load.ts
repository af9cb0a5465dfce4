import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { sql } from '../../src/platform/db/sql.ts';
import { until } from '../until.ts';
import { openOwner, openWorld } from '../world.ts';
import { type Node, startPatroniCluster } from './patroni-cluster.ts';

const WRITERS = 4;

interface Seen {
  acknowledged: { page_id: string; at: Date }[];
  /** Answers other than success or 503 with Retry-After. */
  wrong: string[];
  unavailable: number;
  /** Number of pages that a read after the write did not find. */
  stale: number;
  /** Time of the last successful write, by performance.now(). */
  lastSuccess: number;
}

/** Starts a cluster, the service on it, and writers that create pages and read each of them, until `end`. */
export async function startLoadedCluster() {
  const { nodes, proxyPort, superuser } = await startPatroniCluster();
  const primary = async () => {
    const are = await Promise.all(nodes.map((node) => node.is('primary')));
    return nodes[are.indexOf(true)];
  };
  const first = (await until('a primary', primary)) as Node;
  await openOwner(`postgres://${superuser}@${first.at}/postgres`).session(async (_query, run) => {
    await run(`create role ibid login createrole password 'ibid'`);
    await run('create database ibid owner ibid');
  });
  const addressAt = (at: string) => `postgres://ibid:ibid@${at}/ibid`;
  const atProxy = `${addressAt(`127.0.0.1:${proxyPort}`)}?target_session_attrs=read-write`;
  const commits = () => commitsAt(atProxy);
  // HAProxy considers every node a primary until its first checks.
  let inARow = 0;
  await until(
    'HAProxy leads to the primary alone',
    async () => {
      inARow = (await commits()) ? inARow + 1 : 0;
      return inARow;
    },
    (times) => times >= 2 * nodes.length,
  );
  const world = await openWorld({
    DATABASE_URL: atProxy,
    DATABASE_REPLICA_URLS: nodes.map(({ at }) => addressAt(at)).join(' '),
  });
  const owner = await world.owner();
  const pages = `/v1/wikis/${owner.wiki_id}/pages`;
  const seen: Seen = { acknowledged: [], wrong: [], unavailable: 0, stale: 0, lastSuccess: 0 };
  let isOver = false;
  const note = (answer: string) => {
    console.log(answer);
    seen.wrong.push(answer);
  };
  const write = async (name: number) => {
    for (let i = 0; !isOver; i += 1) {
      const { status, headers, body } = await owner.post(pages, { title: `Page ${name} ${i}`, markdown: 'x' });
      if (status === 201) {
        seen.acknowledged.push({ page_id: body.page_id, at: new Date() });
        seen.lastSuccess = performance.now();
        const read = await owner.get(`${pages}/${body.page_id}`);
        if (read.status === 404) seen.stale += 1;
        else if (read.status !== 200 && read.status !== 503) note(`read: ${read.status} ${JSON.stringify(read.body)}`);
      } else if (status === 503 && headers.get('retry-after')) {
        seen.unavailable += 1;
        await delay(50);
      } else note(`write: ${status} ${JSON.stringify(body)}`);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, i) => write(i));
  const missingAt = async (node: Node, written: Seen['acknowledged']) => {
    const rows = await openOwner(addressAt(node.at)).query<{ page_id: string }>(sql`select page_id from pages`);
    const kept = new Set(rows.map(({ page_id }) => page_id));
    return written.filter(({ page_id }) => !kept.has(page_id));
  };
  return {
    nodes,
    primary,
    seen,
    commits,
    stop: () => {
      isOver = true;
    },
    /** Returns the acknowledged pages that the primary lacks. */
    async lost(): Promise<Seen['acknowledged']> {
      const leader = (await until('a primary', primary)) as Node;
      const written = [...seen.acknowledged];
      const lost = await missingAt(leader, written);
      if (lost.length > 0) {
        console.log(`acknowledged from ${lost[0]?.at.toISOString()} to ${lost.at(-1)?.at.toISOString()}, and lost:`);
        for (const node of nodes) {
          const missing = await missingAt(node, written).catch((error: Error) => error);
          const count = missing instanceof Error ? missing.message : `${missing.length} are missing`;
          console.log(`${node.name}${node === leader ? ' (the primary)' : ''}: ${count}`);
        }
      }
      return lost;
    },
    /** Stops the writers after their last answers. */
    async end(): Promise<void> {
      isOver = true;
      await Promise.all(writers);
    },
  };
}

/** Returns whether a transaction on a new connection commits. */
async function commitsAt(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('create temp table probe ()');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

type LoadedCluster = Awaited<ReturnType<typeof startLoadedCluster>>;

/** Waits for a standby that has all acknowledged writes. */
export function untilSafe({ nodes }: LoadedCluster): Promise<unknown> {
  return until('a standby that can follow', async () =>
    (await Promise.all(nodes.map((node) => node.is('sync')))).includes(true),
  );
}

/**
 * Waits for a new primary and for a write after the change. Returns the primary, the milliseconds until that write, and
 * the milliseconds until PostgreSQL committed through HAProxy.
 */
export async function untilWritten(
  { primary, seen, commits }: LoadedCluster,
  before: Node,
): Promise<{ now: Node; waitMs: number; commitMs: number }> {
  const now = (await until('another primary', async () => {
    const found = await primary();
    return found && found !== before ? found : undefined;
  })) as Node;
  const there = performance.now();
  const committed = (async () => {
    while (!(await commits())) await delay(20);
    return performance.now() - there;
  })();
  // The value changes as long as the service answers.
  await until(
    'a write after it',
    () => {
      if (seen.wrong.length > 0) throw new Error(seen.wrong.join());
      return seen.lastSuccess > there || `${seen.unavailable} answers 503`;
    },
    (found) => found === true,
  );
  const waitMs = seen.lastSuccess - there;
  return { now, waitMs, commitMs: await committed };
}

export function untilWhole({ nodes }: LoadedCluster): Promise<unknown> {
  return until(
    'all nodes are back',
    async () => (await Promise.all(nodes.map((node) => node.is('replica?lag=1MB')))).filter(Boolean).length,
    (n) => n === 2,
  );
}
