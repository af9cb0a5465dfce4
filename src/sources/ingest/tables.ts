import { defineTable } from '../../platform/tables/define-table.ts';

export const ingestTables = [defineTable({ name: 'compiled_files', of: 'wiki', rows: 'many' })];
