import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import { parse } from 'yaml';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { raw, sql } from '../../src/platform/db/sql.ts';
import { cleanUp } from '../clean-up.ts';
import { addressOf } from '../database-address.ts';
import { makeFolder } from '../process.ts';
import { openOwner } from '../world.ts';

const CLUSTER = new URL('deploy/cloudnative-pg/cluster.yaml', PACKAGE);

/** Starts a PostgreSQL as described by deploy/cloudnative-pg/cluster.yaml, with password logins. */
export async function startDatabase() {
  const folder = await makeFolder();
  const postgres = await startPostgres({ dataDir: folder, log: () => undefined });
  cleanUp(() => postgres.stop());
  const admin = openOwner(addressOf({ ...postgres.connection, user: SUPERUSER }));
  const { bootstrap, managed } = parse(await readFile(CLUSTER, 'utf8')).spec;
  const { database, owner, postInitApplicationSQL } = bootstrap.initdb;
  assert.deepEqual([database, owner], [postgres.connection.database, postgres.connection.user]);
  // Our own server creates this role when it starts.
  await admin.query(raw('drop role ibid_service'));
  for (const statement of postInitApplicationSQL) await admin.query(raw(statement));
  const flags = ['superuser', 'createdb', 'createrole', 'replication', 'bypassrls', 'login', 'inherit'];
  for (const role of managed.roles) {
    const attributes = flags.map((flag) => `${role[flag] ? '' : 'no'}${flag}`).join(' ');
    await admin.query(raw(`alter role ${role.name} ${attributes} password 'served'`));
  }
  await admin.query(raw(`alter role ${owner} nosuperuser nocreatedb nocreaterole password 'owned'`));
  await writeFile(
    join(folder, 'postgres', 'pg_hba.conf'),
    `local all ${SUPERUSER} trust\nlocal all all scram-sha-256\n`,
  );
  await admin.query(sql`select pg_reload_conf()`);
  // Pods run as a user of their own, who needs access to the socket.
  await chmod(postgres.connection.host, 0o711);
  await chmod(join(postgres.connection.host, `.s.PGSQL.${postgres.connection.port}`), 0o777);
  const as = (user: string, password: string) => addressOf({ ...postgres.connection, user: `${user}:${password}` });
  return { admin, owner: as(owner, 'owned'), service: as('ibid_service', 'served') };
}
