-- A search looks up the ids of its best candidates by their numbers: from the index alone, since the rows hold all terms of a
-- document and are spread over the whole table.
alter table search_documents
  drop constraint search_documents_pkey,
  add primary key (wiki_id, kind, document_no) include (document_id);
