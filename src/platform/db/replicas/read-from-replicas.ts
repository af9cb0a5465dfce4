import type { ServiceDb } from '../db.ts';
import type { ServiceDbOptions } from '../service-session.ts';
import { type OnReplicaChange, openReplica } from './replica.ts';
import { openWalPositions } from './wal-positions.ts';

/**
 * Wraps the primary so that replicas run its reads. Only this function decides which server a statement goes to. A read
 * includes everything committed before it began, as on the primary, so a revoked credential is refused on a replica
 * too. `options` are the options of the primary. `urls` are the replicas, with the same users.
 */
export function readFromReplicas(
  primary: ServiceDb,
  options: ServiceDbOptions,
  urls: readonly string[],
  onChange: OnReplicaChange,
): ServiceDb {
  const positions = openWalPositions(options);
  const replicas = urls.map((url) =>
    openReplica(
      // A replica that was promoted by itself says nothing about the primary.
      { ...options, timelines: undefined, connection: { connectionString: url }, server: new URL(url).host },
      positions.current,
      onChange,
    ),
  );
  let turn = 0;
  function nextReplica() {
    for (let i = 0; i < replicas.length; i += 1) {
      turn = (turn + 1) % replicas.length;
      const replica = replicas[turn];
      if (replica?.usage().isUp) return replica;
    }
    return undefined;
  }

  return {
    ...primary,
    in(context, budget) {
      const db = primary.in(context, budget);
      return {
        ...db,
        async read(statement) {
          const replica = nextReplica();
          if (!replica) return db.query(statement);
          // If the primary is down, its own query reports the error.
          const after = await positions.current().catch(() => undefined);
          if (!after) return db.query(statement);
          return replica.read(statement, { context, budget, after }, () => db.query(statement));
        },
      };
    },
    replicas: () => replicas.map(({ usage }) => usage()),
    refuseWaiting() {
      for (const replica of replicas) replica.refuseWaiting();
      primary.refuseWaiting();
    },
    async close() {
      await Promise.all([...replicas.map((replica) => replica.close()), positions.close()]);
      await primary.close();
    },
  };
}
