import { type Sql, sql } from '../db/sql.ts';

/**
 * The plain text of a page, of the columns wiki_id, page_id and text_source_id of `page`, the name of a row (not `own` or `read`): that of its source, or
 * its own. It is read from its table only where it is asked for.
 */
export function pageText(page: Sql): Sql {
  return sql`case when ${page}.text_source_id is null
    then (select own.text from page_texts own where own.wiki_id = ${page}.wiki_id and own.page_id = ${page}.page_id)
    else (select read.text from source_texts read where read.wiki_id = ${page}.wiki_id and read.source_id = ${page}.text_source_id) end`;
}
