import { raw, type Sql } from '../../../platform/db/sql.ts';

/** SQL condition: whether the caller sees the drafts of the wiki. The policy of pages hides them from other callers. */
export const SEES_DRAFTS: Sql = raw('(select sees_drafts())');

/** SQL condition: whether the caller sees every page of the wiki, so that nothing has to be concealed. */
export const SEES_ALL_PAGES: Sql = raw('(select sees_drafts() and not restricts())');
