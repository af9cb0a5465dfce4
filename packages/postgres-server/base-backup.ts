import pg from 'pg';
import { SUPERUSER } from './cluster.ts';
import type { Connection } from './server.ts';

/** Pauses the connection at WAITING_MAX unread messages, and resumes it at WAITING_FEW. */
const WAITING_MAX = 64;
const WAITING_FEW = 16;

const COMMAND = "BASE_BACKUP (LABEL 'ibid', CHECKPOINT 'fast', WAIT true, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')";

export interface BaseBackupPosition {
  timeline: number;
  start_lsn: string;
  stop_lsn: string;
}

type Content = AsyncIterable<Uint8Array>;

/** Consumers of the two parts of a base backup. Each must read its content to the end. */
export interface BaseBackupTaker {
  /** Receives a tar file of the cluster. */
  archive(content: Content): Promise<void>;
  /** Receives PostgreSQL's manifest of the archive: JSON with the size and SHA-256 of each file. */
  manifest(content: Content): Promise<void>;
}

/**
 * Takes a base backup of our server over the replication protocol. The backup excludes the WAL that it needs,
 * which the server has archived by the time this resolves. Throws errors of the server and of `taker`.
 */
export async function takeBaseBackup(
  { host, port, database }: Connection,
  taker: BaseBackupTaker,
): Promise<BaseBackupPosition> {
  // The driver's types lack `replication`.
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
    if (end !== 'm')
      throw new Error('the server sent a base backup of more than one archive because it has tablespaces');
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

/**
 * Yields data up to the first message that is neither data nor progress. `onEnd` gets the type of that message; '' at
 * the end of the stream.
 */
async function* dataOf(messages: AsyncGenerator<Buffer>, onEnd: (type: string) => void): AsyncGenerator<Buffer> {
  for (;;) {
    const { value, done } = await messages.next();
    const type = done ? '' : typeOf(value);
    if (type === 'd') yield value.subarray(1);
    else if (type !== 'p') return onEnd(type);
  }
}

/** Reads the start of the backup from the first row and its end from the last row. */
function positionOf(rows: readonly (string | null)[][]): BaseBackupPosition {
  const [start_lsn, timeline] = rows[0] ?? [];
  const [stop_lsn, last] = rows.at(-1) ?? [];
  if (!start_lsn || !stop_lsn || timeline !== last)
    throw new Error('the server did not report the start of the backup');
  return { timeline: Number(timeline), start_lsn, stop_lsn };
}

interface CopyConnection {
  query(text: string): void;
  stream: { pause(): unknown; resume(): unknown };
}

/** Receives the messages of a base backup through a custom query, because the driver has no query for this protocol. */
function openCopy() {
  const waiting: Buffer[] = [];
  const rows: (string | null)[][] = [];
  let connection: CopyConnection | undefined;
  let isPaused = false;
  let isOver = false;
  let failure: Error | undefined;
  let wake = () => {};
  const ended = Promise.withResolvers<(string | null)[][]>();
  // The error reaches the reader of the messages.
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
      // Copy the chunk, because the driver reuses its buffer.
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
