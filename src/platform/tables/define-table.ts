import type { Sql } from '../db/sql.ts';

/** Keys of the last row of a batch; the next batch starts after them. */
export type After = readonly (string | number)[];

/**
 * A list in the export of a person's data. Each statement returns one batch and runs through the guard of the export.
 */
export interface PersonList {
  file: string;
  keys: readonly string[];
  first: After;
  /** Batch size. A batch with fewer rows ends the list; with 1, an empty batch does. */
  most: number;
  /** Returns the statement for the next batch. `workspace_id` is only set for a list `inWorkspaces`. */
  rows(after: After, workspace_id: string): Sql;
  /** Whether to read the list once for each workspace in which the person is an active member. */
  inWorkspaces?: boolean;
  /** Converts a row to its exported form; identity by default. */
  shown?(row: Record<string, unknown>): Promise<Record<string, unknown>>;
}

export function personList(
  file: string,
  keys: string,
  first: After,
  most: number,
  rows: PersonList['rows'],
  more: Pick<PersonList, 'inWorkspaces' | 'shown'> = {},
): PersonList {
  return { file, keys: keys.split(' '), first, most, rows, ...more };
}

/** How the export and the deletion of an account treat the table. Required if a column names a person. */
export interface OfPerson {
  /** Lists of the export, or a sentence that explains why the export omits the table. */
  exported: readonly PersonList[] | string;
  /**
   * `cascade`: a foreign key deletes the rows with the user. `erase_account`: the database function of that name
   * deletes or clears them. Otherwise a sentence that says which data stays and why.
   */
  erased: string;
}

/**
 * For rows that keep the id of their writer, which identifies no one after the account is deleted. `exported`: see
 * OfPerson.
 */
export function idStays(exported: OfPerson['exported']): OfPerson {
  return { exported, erased: 'The id of the writer stays and names no one.' };
}

interface Declaration {
  name: string;
  /** Owner of a row, by the column `wiki_id`, `workspace_id` or `user_id`. `member`: one person in a wiki. */
  of: 'wiki' | 'workspace' | 'user' | 'member' | 'service';
  /**
   * `fixed`: does not grow with the service; migrations may lock it. `few`: few rows per owner. `many`: grows with the
   * content of an owner, so its migration sets `n_distinct = 20` on the owner's column.
   */
  rows: 'fixed' | 'few' | 'many';
  /**
   * Columns that must differ between the copies of a row in test data. Omitted if no request reads a table of many
   * rows.
   */
  copies?: readonly string[];
  /**
   * `standard`: rows are visible to their owner. `shared`: also to the service's own statements. `special`: defined in
   * its migration. `none`: no row-level security.
   */
  policy?: 'standard' | 'shared' | 'special' | 'none';
  /** Privileges granted to the service; '' for none. */
  rights?: string;
  /** Column that identifies a row in the API and in audit records. */
  id?: string;
  /** Prefix of the ids that `newId` creates for its rows. */
  prefix?: string;
  /** Kinds of audit records about its rows: the part of an event before the dot. */
  audit?: readonly string[];
  /**
   * Columns that audit records leave out, because they quote content: who reads the record may not see the page. A record
   * has the id, and the list of records adds the title for readers who see the page.
   */
  content?: readonly string[];
  person?: OfPerson;
  /** The database function that deletes the rows of a deleted owner if no foreign key does. */
  deletedBy?: string;
}

export interface Table extends Declaration {
  policy: 'standard' | 'shared' | 'special' | 'none';
  rights: string;
}

/** Declares a table. `test/tables.test.ts` compares the declaration with the migrations. */
export function defineTable(declaration: Declaration): Table {
  return { policy: 'standard', rights: 'delete, insert, select, update', ...declaration };
}

/** Returns the column that names the owner of a row; undefined for tables of the service. */
export function ownerColumn({ of }: Table): string | undefined {
  if (of === 'service') return undefined;
  return of === 'member' ? 'wiki_id' : `${of}_id`;
}

/** For each kind of audit record: the id column, and the columns that records leave out. */
export type AuditTargets = Readonly<Record<string, { id: string; content: readonly string[] }>>;

export function auditTargets(tables: readonly Table[]): AuditTargets {
  return Object.fromEntries(
    tables.flatMap(({ audit = [], id = '', content = [] }) => audit.map((kind) => [kind, { id, content }])),
  );
}

/** Returns the lists in the export of a person's data. */
export function personLists(tables: readonly Table[]): PersonList[] {
  return tables.flatMap(({ person }) => (typeof person?.exported === 'object' ? person.exported : []));
}
