import type { ServiceDb } from '../db.ts';
import type { ServiceDbOptions } from '../service-session.ts';
import { type OnReplicaChange, openReplica } from './replica.ts';
import { openWalPositions } from './wal-positions.ts';

/**
 * The database, with its reads answered by replicas. This is the only place that decides which server a statement goes to. A
 * read is as new as one that the primary answers: it includes what anyone committed before it began, so a revoked credential is
 * refused there too. `options`: those of the primary. `urls`: the replicas, with the same users.
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
          // Where the primary does not answer, it says so itself.
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
