-- works with: any
-- A merge marked what it wrote as dead in every segment, also in those that never had it, so that a segment of a part of the
-- documents seemed to be dead long before it was.

alter table search_segments add column held bytea;
alter table search_segments alter column held set storage external;
comment on column search_segments.held is 'The numbers of the documents that it has postings of, dead ones included; null: not known, so any.';
