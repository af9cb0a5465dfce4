import { defineTable } from '../../platform/tables/define-table.ts';

export const billingTables = [
  defineTable({ name: 'billing_customers', of: 'workspace', rows: 'few', policy: 'shared' }),
  defineTable({ name: 'subscriptions', of: 'workspace', rows: 'few' }),
  defineTable({ name: 'payment_events', of: 'service', rows: 'few', rights: 'delete, insert, select' }),
];
