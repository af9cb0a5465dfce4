import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { Client, type ClientConfig } from 'pg';

/** Bytes written to the WAL. */
interface Written {
  total: number;
  /** Bytes of full-page images, which follow the first change of a page after a checkpoint. */
  images: number;
  /** Bytes by the table that a row, an index entry or a TOAST chunk belongs to, largest first. */
  tables: [table: string, bytes: number][];
}

/** Reads the amount of WAL between two positions. */
export interface WalReader {
  position(): Promise<string>;
  between(from: string, to: string): Promise<Written>;
  close(): Promise<void>;
}

/** Opens a reader on the service's own PostgreSQL, whose administrator may read the WAL. */
export async function openWalReader(connection: ClientConfig): Promise<WalReader> {
  const client = new Client({ ...connection, user: SUPERUSER });
  await client.connect();
  await client.query('create extension if not exists pg_walinspect');
  // Otherwise a checkpoint would remove WAL before it is read.
  await client.query(`alter system set wal_keep_size = '4GB'`);
  await client.query('select pg_reload_conf()');
  return {
    async position() {
      // WAL is readable once it has been flushed.
      await client.query('checkpoint');
      return (await client.query('select pg_current_wal_flush_lsn()::text as at')).rows[0].at;
    },
    async between(from, to) {
      const { rows } = await client.query<{ name: string; bytes: number; images: number }>(
        `select coalesce(o.relname, c.relname, '') as name, sum(b.block_data_length + b.block_fpi_length)::float8 as bytes,
          sum(b.block_fpi_length)::float8 as images
        from pg_get_wal_block_info($1::pg_lsn, $2::pg_lsn) b
        left join pg_class c on pg_relation_filenode(c.oid) = b.relfilenode
        left join pg_index i on i.indexrelid = c.oid
        left join pg_class t on t.reltoastrelid = coalesce(i.indrelid, c.oid)
        left join pg_class o on o.oid = coalesce(t.oid, i.indrelid)
        group by 1 order by 2 desc`,
        [from, to],
      );
      const { rows: totals } = await client.query<{ total: number }>(
        'select pg_wal_lsn_diff($2::pg_lsn, $1::pg_lsn)::float8 as total',
        [from, to],
      );
      return {
        total: totals[0]?.total ?? 0,
        images: rows.reduce((sum, { images }) => sum + images, 0),
        tables: rows.map(({ name, bytes }) => [name === '' ? 'the catalogue' : name, bytes]),
      };
    },
    close: () => client.end(),
  };
}
