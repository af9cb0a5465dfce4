import { defineTable } from '../tables/define-table.ts';

/** Tables that every request may use and no feature owns. */
export const requestTables = [
  defineTable({ name: 'migrations', of: 'service', rows: 'fixed', policy: 'none', rights: 'select' }),
  defineTable({ name: 'idempotency_keys', of: 'service', rows: 'few', policy: 'none' }),
  defineTable({ name: 'limit_counts', of: 'service', rows: 'few', policy: 'none' }),
];
