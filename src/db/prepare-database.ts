import type { Db } from './db.ts';
import { migrate } from './migrate.ts';
import { StartError } from './postgres-error.ts';
import { sql } from './sql.ts';

const MINIMUM_POSTGRES = 150_000;

/** Where the database is: DATABASE_URL, or an own one in DATA_DIR. */
interface Place {
  url: string | undefined;
  data_dir: string;
}

/** Asks the database for the first time and migrates it. Answers the names of the migrations that it applied. Errors: StartError. */
export async function prepareDatabase(db: Db, place: Place): Promise<string[]> {
  const [row] = await db
    .query<{ version: number }>(sql`select current_setting('server_version_num')::int as version`)
    .catch((cause: NodeJS.ErrnoException) => {
      throw new StartError(whyNoDatabase(place, cause), { cause });
    });
  if ((row?.version ?? 0) < MINIMUM_POSTGRES) {
    throw new StartError(
      'DATABASE_URL names a PostgreSQL older than 15: upgrade it, or unset DATABASE_URL to use an own one.',
    );
  }
  return migrate(db).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== '42501') throw cause;
    throw new StartError(
      `The user of DATABASE_URL may not make tables (${cause.message}): let it own the database, or grant it create on the schema.`,
      { cause },
    );
  });
}

function whyNoDatabase({ url, data_dir }: Place, { code, message }: NodeJS.ErrnoException): string {
  const reason = code ?? message;
  if (!url) return `The PostgreSQL in ${data_dir} does not answer (${reason}): its log there says why.`;
  // Never the user and the password.
  const { host, pathname } = new URL(url);
  const server = `The database server ${decodeURIComponent(host)}`;
  if (code === '3D000') {
    return `${server} has no database "${decodeURIComponent(pathname.slice(1))}": create it, or correct DATABASE_URL.`;
  }
  if (code === '28P01' || code === '28000') {
    return `${server} refuses the user or the password (${message}): correct DATABASE_URL.`;
  }
  return `${server} does not answer (${reason}): start it, or correct DATABASE_URL; unset it to use an own PostgreSQL.`;
}
