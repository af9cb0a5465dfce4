import { defineTable } from '../tables/define-table.ts';

/** Tables of every request, which belong to no feature. */
export const requestTables = [
  defineTable({ name: 'migrations', of: 'service', rows: 'fixed', policy: 'none', rights: 'select' }),
  defineTable({ name: 'idempotency_keys', of: 'service', rows: 'few', policy: 'none' }),
  defineTable({ name: 'limit_counts', of: 'service', rows: 'few', policy: 'none' }),
];
