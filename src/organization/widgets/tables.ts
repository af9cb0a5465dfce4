import { defineTable } from '../../platform/tables/define-table.ts';

export const widgetTables = [
  defineTable({ name: 'signing_keys', of: 'service', rows: 'fixed', rights: 'insert, select' }),
];
