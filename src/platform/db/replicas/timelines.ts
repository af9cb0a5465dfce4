import type pg from 'pg';

/** Thrown for a server that was the primary before a fail-over known to this process. */
export class FormerPrimary extends Error {
  override name = 'FormerPrimary';
  /** SQLSTATE of a rejected connection. */
  readonly code = '08004';

  constructor() {
    super(
      'The database server was the primary before a fail-over: its timeline is older than one that this process has used, so it lacks writes acknowledged since then. Make sure that the cluster has one primary, the latest. Restart the service only if those writes are lost for good.',
    );
  }
}

/** Keeps a process from using an outdated history of its database. */
export interface Timelines {
  /** Asks a new connection for its timeline. Throws FormerPrimary. */
  check(client: pg.ClientBase): Promise<void>;
  /** Returns whether its server turned out to be a former primary after the connection was checked. */
  isPast(client: pg.ClientBase): boolean;
}

/**
 * A standby that becomes the primary starts a timeline with a higher number. The statement gives the same answer for
 * every role. A standby has no timeline of its own.
 */
const TIMELINE = `
  select (pg_control_system()).system_identifier::text as cluster,
    case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) end as timeline`;

/**
 * SQLSTATEs of servers that do not report a timeline, such as servers with their own storage layer. The check is
 * skipped there.
 */
const NOT_TOLD = /^(42|0A|55)/;

export function openTimelines(): Timelines {
  /** The latest timeline of each cluster. A dump restored elsewhere is another cluster. */
  const latest = new Map<string, string>();
  const known = new WeakMap<pg.ClientBase, { cluster: string; timeline: string }>();

  function isPast(client: pg.ClientBase): boolean {
    const own = known.get(client);
    return own !== undefined && own.timeline < (latest.get(own.cluster) ?? own.timeline);
  }

  return {
    isPast,
    async check(client) {
      const { rows } = await client.query(TIMELINE).catch((error: { code?: string }) => {
        if (!NOT_TOLD.test(error.code ?? '')) throw error;
        return { rows: [] };
      });
      const { cluster, timeline } = rows[0] ?? {};
      if (typeof timeline !== 'string') return;
      known.set(client, { cluster, timeline });
      if (isPast(client)) throw new FormerPrimary();
      latest.set(cluster, timeline);
    },
  };
}
