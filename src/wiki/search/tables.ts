import { sql } from '../../platform/db/sql.ts';
import { defineTable, personList } from '../../platform/tables/define-table.ts';

export const searchTables = [
  defineTable({ name: 'search_wikis', of: 'wiki', rows: 'few' }),
  defineTable({ name: 'search_documents', of: 'wiki', rows: 'many', copies: ['document_id', 'document_no'] }),
  // Pending documents are merged within seconds.
  defineTable({ name: 'search_pending', of: 'wiki', rows: 'few' }),
  defineTable({ name: 'search_segments', of: 'wiki', rows: 'few', deletedBy: 'remove_index' }),
  defineTable({ name: 'search_blocks', of: 'wiki', rows: 'many', copies: ['term'], deletedBy: 'remove_index' }),
  defineTable({
    name: 'search_words',
    of: 'wiki',
    rows: 'many',
    copies: ['word', 'backwards'],
    deletedBy: 'remove_index',
  }),
  defineTable({ name: 'search_vocabulary', of: 'wiki', rows: 'many', copies: ['first'] }),
  defineTable({
    name: 'saved_searches',
    of: 'member',
    rows: 'few',
    id: 'saved_search_id',
    audit: ['saved_search'],
    person: {
      exported: [
        personList(
          'saved_searches.jsonl',
          'wiki_id saved_search_id',
          ['', ''],
          500,
          ([wiki, id]) => sql`select s.* from access a, caller_searches(${wiki}::text, ${id}::text) s`,
        ),
      ],
      erased: 'cascade',
    },
  }),
];
