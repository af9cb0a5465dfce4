import { defineTable } from '../../platform/tables/define-table.ts';

export const sourceTables = [
  defineTable({
    name: 'sources',
    of: 'wiki',
    rows: 'many',
    copies: ['source_id', 'sha256'],
    id: 'source_id',
    prefix: 'source',
    policy: 'special',
    audit: ['source'],
    content: ['title', 'filename'],
  }),
  defineTable({ name: 'source_texts', policy: 'special', of: 'wiki', rows: 'many', copies: ['source_id'] }),
  defineTable({ name: 'page_sources', policy: 'special', of: 'wiki', rows: 'many', copies: ['page_id', 'source_id'] }),
];
