-- The terms of a text are found in another way now: which one made those that are stored.
alter table search_documents add column analysis smallint not null default 0;
alter table search_pending add column analysis smallint not null default 0;
comment on column search_documents.analysis is 'The version of src/analysis that found the terms. Those of another one say nothing of the impacts in search_postings.';
comment on column search_pending.analysis is 'The version of src/analysis that found the terms. Those of another one are searched, and found again when they are merged.';
alter table search_documents add column body bytea;
alter table search_pending add column body bytea;
comment on column search_documents.body is 'The terms of the text and their counts, deflated; null: they are in body_terms.';
comment on column search_pending.body is 'As in search_documents, where only the title was changed.';
