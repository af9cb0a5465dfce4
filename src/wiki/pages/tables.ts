import { defineTable, idStays } from '../../platform/tables/define-table.ts';

export const pageTables = [
  defineTable({
    name: 'pages',
    policy: 'special',
    of: 'wiki',
    rows: 'many',
    copies: ['page_id', 'path', 'slug'],
    id: 'page_id',
    prefix: 'page',
    audit: ['page'],
    content: ['title', 'path', 'slug', 'description'],
    person: idStays("The person's texts are in revisions.jsonl."),
  }),
  defineTable({ name: 'page_texts', policy: 'special', of: 'wiki', rows: 'many', copies: ['page_id'] }),
  // Has a row for each page that both users and its file have changed.
  defineTable({ name: 'page_bases', policy: 'special', of: 'wiki', rows: 'few' }),
  defineTable({ name: 'page_paths', of: 'wiki', rows: 'many', copies: ['path', 'page_id'] }),
  defineTable({
    name: 'page_links',
    policy: 'special',
    of: 'wiki',
    rows: 'many',
    copies: ['from_page_id', 'to_page_id', 'to_path'],
  }),
  defineTable({ name: 'page_tags', policy: 'special', of: 'wiki', rows: 'many', copies: ['page_id', 'tag_key'] }),
];
