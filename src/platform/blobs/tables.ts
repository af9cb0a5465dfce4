import { defineTable } from '../tables/define-table.ts';

export const blobTables = [defineTable({ name: 'blobs', of: 'service', rows: 'few' })];
