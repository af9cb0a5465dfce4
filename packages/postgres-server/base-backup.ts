import pg from 'pg';
import { SUPERUSER } from './cluster.ts';
import type { Connection } from './server.ts';

/** How many received messages may wait to be read before the connection is paused, and how few before it goes on. */
const WAITING_MAX = 64;
const WAITING_FEW = 16;

const COMMAND = "BASE_BACKUP (LABEL 'ibid', CHECKPOINT 'fast', WAIT true, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')";

export interface BaseBackupPosition {
  timeline: number;
  start_lsn: string;
  stop_lsn: string;
}

type Content = AsyncIterable<Uint8Array>;

/** What is done with the two parts of a base backup. Each reads its content to the end. */
export interface BaseBackupTaker {
  /** A tar file of the cluster. */
  archive(content: Content): Promise<void>;
  /** The manifest that PostgreSQL makes of it: JSON with the size and SHA-256 of each file. */
  manifest(content: Content): Promise<void>;
}

/**
 * Takes a base backup of a server of ours over the replication protocol, without the WAL that it needs, which the server has
 * archived when this answers. Errors: those of the server and of `taker`.
 */
export async function takeBaseBackup(
  { host, port, database }: Connection,
  taker: BaseBackupTaker,
): Promise<BaseBackupPosition> {
  // `replication` is missing in the types of the driver.
  const config: pg.ClientConfig & { replication: string } = {
    ...{ host, port, database, user: SUPERUSER, ssl: false },
    replication: 'true',
  };
  const client = new pg.Client(config);
  const copy = openCopy();
  client.on('error', (error) => copy.fail(error));
  await client.connect();
  try {
    client.query(copy.query);
    const messages = copy.messages();
    await expect(messages, 'n');
    let end = '';
    await taker.archive(
      dataOf(messages, (type) => {
        end = type;
      }),
    );
    if (end !== 'm') throw new Error('the server sent a base backup of more than one archive: it has tablespaces');
    await taker.manifest(dataOf(messages, () => undefined));
    await messages.return(undefined);
    return positionOf(await copy.rows);
  } finally {
    await client.end();
  }
}

async function expect(messages: AsyncGenerator<Buffer>, type: string): Promise<void> {
  const { value } = await messages.next();
  if (typeOf(value) !== type) throw new Error(`the server sent no base backup: ${typeOf(value)}`);
}

const typeOf = (message: Buffer | undefined) => (message ? String.fromCharCode(message[0] ?? 0) : '');

/** The data up to a message of another kind than data and progress, which `onEnd` is told; '' at the end. */
async function* dataOf(messages: AsyncGenerator<Buffer>, onEnd: (type: string) => void): AsyncGenerator<Buffer> {
  for (;;) {
    const { value, done } = await messages.next();
    const type = done ? '' : typeOf(value);
    if (type === 'd') yield value.subarray(1);
    else if (type !== 'p') return onEnd(type);
  }
}

/** The first row says where the backup begins, and the last one where it ends. */
function positionOf(rows: readonly (string | null)[][]): BaseBackupPosition {
  const [start_lsn, timeline] = rows[0] ?? [];
  const [stop_lsn, last] = rows.at(-1) ?? [];
  if (!start_lsn || !stop_lsn || timeline !== last) throw new Error('the server did not say where the backup begins');
  return { timeline: Number(timeline), start_lsn, stop_lsn };
}

interface CopyConnection {
  query(text: string): void;
  stream: { pause(): unknown; resume(): unknown };
}

/** The messages of the command as the driver hands them over; it has no such query of its own. */
function openCopy() {
  const waiting: Buffer[] = [];
  const rows: (string | null)[][] = [];
  let connection: CopyConnection | undefined;
  let isPaused = false;
  let isOver = false;
  let failure: Error | undefined;
  let wake = () => {};
  const ended = Promise.withResolvers<(string | null)[][]>();
  // The reader of messages has the error.
  ended.promise.catch(() => undefined);
  const fail = (error: Error) => {
    failure ??= error;
    ended.reject(error);
    wake();
  };
  const query = {
    submit(to: CopyConnection) {
      connection = to;
      to.query(COMMAND);
    },
    handleRowDescription: () => undefined,
    handleDataRow: ({ fields }: { fields: (string | null)[] }) => void rows.push(fields),
    handleCommandComplete: () => undefined,
    handleError: fail,
    handleReadyForQuery() {
      isOver = true;
      ended.resolve(rows);
      wake();
    },
    handleCopyData({ chunk }: { chunk: Buffer }) {
      // The driver uses its buffer again.
      waiting.push(Buffer.from(chunk));
      if (waiting.length >= WAITING_MAX && !isPaused) {
        isPaused = true;
        connection?.stream.pause();
      }
      wake();
    },
  };
  async function* messages(): AsyncGenerator<Buffer> {
    for (;;) {
      const message = waiting.shift();
      if (isPaused && waiting.length <= WAITING_FEW) {
        isPaused = false;
        connection?.stream.resume();
      }
      if (message) yield message;
      else if (failure) throw failure;
      else if (isOver) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }
  return { query: query as unknown as pg.Submittable, messages, rows: ended.promise, fail };
}
