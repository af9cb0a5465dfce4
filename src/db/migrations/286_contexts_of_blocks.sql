-- works with: any
-- Where a verified block stands and where its links lead is part of what readers take from it.
alter table page_sources
  add column contexts bytea,
  add column target_blocks int[],
  add column targets text[];
comment on column page_sources.contexts is 'What each block stood in when it was compiled, 16 bytes each; see src/markdown/blocks/block-context.ts. Null where a page was made before that was kept.';
comment on column page_sources.target_blocks is 'The block (its place in the lists, from 0) of each of the targets.';
comment on column page_sources.targets is 'Where the links of blocks led and which pictures they showed; see src/markdown/blocks/block-targets.ts. Null where a page was made before that was kept.';
