import { type HitCounts, MAX_NAMED } from './schema.ts';

/** The countable properties of a page that is not in the trash. */
export interface Fact {
  page_id: string;
  author: string;
  status: HitCounts['statuses'][number]['status'];
  folder: string;
  /** Number of the restriction that decides who sees the page; 0 for none. */
  acl_no: number;
}

/** The pages of a wiki that a caller sees. */
export interface Sight {
  /** Whether drafts are seen. */
  drafts: boolean;
  /** Restrictions whose pages are seen, as "0" and "1" by number from 1; null if the caller sees all pages. */
  reads: string | null;
}

/** A page that some callers do not find. */
export type Exception = Pick<Fact, 'status' | 'acl_no'> & { isTrashed: boolean };

/** Whether searches find a page for the caller. */
function isFound({ status, acl_no }: Pick<Fact, 'status' | 'acl_no'>, { drafts, reads }: Sight): boolean {
  if (status === 'archived' || (status === 'draft' && !drafts)) return false;
  return acl_no === 0 || reads === null || reads[acl_no - 1] === '1';
}

/** Cached facts about the pages of a wiki, by document number. */
export interface Facts {
  /** The version of the tree that the facts belong to. */
  version: string;
  /** Undefined for a page in the trash. */
  pages: Map<number, Fact | undefined>;
  /** Pages that some callers do not find. */
  exceptions: ReadonlyMap<number, Exception>;
  /** Whether any page had a tag when last checked: tags are not part of the version of the tree. */
  hasTags: boolean;
}

/** Counts of hits, highest first. */
export interface Tally {
  total: number;
  authors: [user_id: string, count: number][];
  folders: [path: string, count: number][];
  statuses: [status: Fact['status'], count: number][];
  /** The pages counted by author, folder and status. */
  pages: string[];
}

/** Counts hits, given best first. The first `of` hits are counted by the cached facts of their pages. */
export function tallyOf(numbers: readonly number[], of: number, { pages, exceptions }: Facts, sight: Sight): Tally {
  const authors = new Map<string, number>();
  const folders = new Map<string, number>();
  const statuses = new Map<Fact['status'], number>();
  const counted: string[] = [];
  for (const no of numbers.slice(0, of)) {
    const fact = pages.get(no);
    if (!fact || !isFound(fact, sight)) continue;
    counted.push(fact.page_id);
    authors.set(fact.author, (authors.get(fact.author) ?? 0) + 1);
    folders.set(fact.folder, (folders.get(fact.folder) ?? 0) + 1);
    statuses.set(fact.status, (statuses.get(fact.status) ?? 0) + 1);
  }
  let total = counted.length;
  for (let i = of; i < numbers.length; i += 1) {
    const exception = exceptions.get(numbers[i] as number);
    if (!exception || (!exception.isTrashed && isFound(exception, sight))) total += 1;
  }
  return { total, authors: most(authors), folders: most(folders), statuses: most(statuses), pages: counted };
}

/** Equal counts are sorted by the collation "C". */
function most<Key extends string>(counts: ReadonlyMap<Key, number>): [Key, number][] {
  return [...counts]
    .sort(([one, a], [other, b]) => b - a || Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .slice(0, MAX_NAMED);
}
