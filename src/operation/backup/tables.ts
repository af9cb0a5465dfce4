import { defineTable } from '../../platform/tables/define-table.ts';

const CONTROL = { of: 'service', rows: 'fixed', policy: 'none' } as const;

export const backupTables = [
  defineTable({ name: 'backup_status', ...CONTROL, rights: 'select' }),
  defineTable({ name: 'wal_archive', ...CONTROL, rights: 'select' }),
  defineTable({ name: 'wal_timelines', ...CONTROL, rights: 'insert, select' }),
];
