import type { Sql } from '../db/sql.ts';

/** The keys of the last row of a batch; the next batch begins behind them. */
export type After = readonly (string | number)[];

/** A list in the archive of a person's data. Each statement answers one batch, through the guard of the export. */
export interface PersonList {
  file: string;
  keys: readonly string[];
  first: After;
  /** The list ends with a batch of fewer rows than this; 1: with an empty one. */
  most: number;
  /** For a list `inWorkspaces`, of this workspace. */
  rows(after: After, workspace_id: string): Sql;
  /** Read once for each workspace that the person is an active member of. */
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

/** How a table takes part in the export and the deletion of an account. Required where a column names a person. */
export interface OfPerson {
  /** Lists of the export, or a sentence that says why it has none. */
  exported: readonly PersonList[] | string;
  /**
   * `cascade`: a foreign key deletes the rows with the user. `erase_account`: that function of the database deletes or clears
   * them. Otherwise a sentence that says what stays and why.
   */
  erased: string;
}

/** Rows that keep the id of their writer, which names no one after the account is deleted. `exported`: as in OfPerson. */
export function idStays(exported: OfPerson['exported']): OfPerson {
  return { exported, erased: 'The id of the writer stays and names no one.' };
}

interface Declaration {
  name: string;
  /** Owner of a row, by the column `wiki_id`, `workspace_id` or `user_id`; `member`: one person in a wiki. */
  of: 'wiki' | 'workspace' | 'user' | 'member' | 'service';
  /**
   * `fixed`: does not grow with the service; migrations may lock it. `few`: few rows for each owner. `many`: grows with the
   * content of an owner, so its migration sets `n_distinct = 20` of the owner's column.
   */
  rows: 'fixed' | 'few' | 'many';
  /** Columns in which test data makes copies of a row differ; absent where no request reads a table of many rows. */
  copies?: readonly string[];
  /**
   * `standard`: rows are visible to their owner. `shared`: to the service's own statements too. `special`: its migration says.
   * `none`: no row-level security.
   */
  policy?: 'standard' | 'shared' | 'special' | 'none';
  /** What the service may do with rows; '' for nothing. */
  rights?: string;
  /** Column that names a row in the API and in audit records. */
  id?: string;
  /** Prefix of the ids that `newId` makes for its rows. */
  prefix?: string;
  /** Kinds of audit records about its rows: the part of an event before the dot. */
  audit?: readonly string[];
  person?: OfPerson;
  /** What deletes the rows of a deleted owner where no foreign key does. */
  deletedBy?: string;
}

export interface Table extends Declaration {
  policy: 'standard' | 'shared' | 'special' | 'none';
  rights: string;
}

/** Declares a table of the database. `test/tables.test.ts` compares the declaration with the migrations. */
export function defineTable(declaration: Declaration): Table {
  return { policy: 'standard', rights: 'delete, insert, select, update', ...declaration };
}

/** The column that names the owner of a row; undefined for tables of the service. */
export function ownerColumn({ of }: Table): string | undefined {
  if (of === 'service') return undefined;
  return of === 'member' ? 'wiki_id' : `${of}_id`;
}

/** The id column of each kind of audit record. */
export type AuditTargets = Readonly<Record<string, string>>;

export function auditTargets(tables: readonly Table[]): AuditTargets {
  return Object.fromEntries(tables.flatMap(({ audit = [], id = '' }) => audit.map((kind) => [kind, id])));
}

/** The lists of the archive of a person's data. */
export function personLists(tables: readonly Table[]): PersonList[] {
  return tables.flatMap(({ person }) => (typeof person?.exported === 'object' ? person.exported : []));
}
