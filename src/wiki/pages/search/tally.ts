import { type HitCounts, MAX_NAMED } from './schema.ts';

/** The countable properties of a page that is not in the trash. */
export interface Fact {
  page_id: string;
  author: string;
  status: HitCounts['statuses'][number]['status'];
  folder: string;
}

/** Cached facts about the pages of a wiki, by document number. */
export interface Facts {
  /** The version of the tree that the facts belong to. */
  version: string;
  /** Undefined for a page in the trash. */
  pages: Map<number, Fact | undefined>;
  /** Pages that are in the trash or not published; true for drafts, which searches find if the caller may write. */
  hidden: ReadonlyMap<number, boolean>;
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
export function tallyOf(numbers: readonly number[], of: number, { pages, hidden }: Facts, mayWrite: boolean): Tally {
  const authors = new Map<string, number>();
  const folders = new Map<string, number>();
  const statuses = new Map<Fact['status'], number>();
  const counted: string[] = [];
  for (const no of numbers.slice(0, of)) {
    const fact = pages.get(no);
    if (!fact || !(fact.status === 'published' || (fact.status === 'draft' && mayWrite))) continue;
    counted.push(fact.page_id);
    authors.set(fact.author, (authors.get(fact.author) ?? 0) + 1);
    folders.set(fact.folder, (folders.get(fact.folder) ?? 0) + 1);
    statuses.set(fact.status, (statuses.get(fact.status) ?? 0) + 1);
  }
  let total = counted.length;
  for (let i = of; i < numbers.length; i += 1) {
    const isDraft = hidden.get(numbers[i] as number);
    if (isDraft === undefined || (isDraft && mayWrite)) total += 1;
  }
  return { total, authors: most(authors), folders: most(folders), statuses: most(statuses), pages: counted };
}

/** Equal counts are sorted by the collation "C". */
function most<Key extends string>(counts: ReadonlyMap<Key, number>): [Key, number][] {
  return [...counts]
    .sort(([one, a], [other, b]) => b - a || Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .slice(0, MAX_NAMED);
}
