import type { Stored } from './measure.ts';

/** What is in a backup. Its presence says that all of it was stored. */
export interface Manifest {
  format: 1;
  backup_id: string;
  /** When the snapshot was taken, by the database's clock. */
  made_at: string;
  postgres_version: string;
  /** The names of the applied migrations: the version of the schema. */
  migrations: string[];
  tables: BackedUpTable[];
  files: {
    /** The list of them: a line for each, with its SHA-256 and size. */
    list: Stored;
    count: number;
    byte_size: number;
    /** Files that the database refers to and that the file store did not have, or not as they were. */
    missing: string[];
  };
}

export interface BackedUpTable {
  name: string;
  columns: string[];
  rows: number;
  /** The SHA-256 of what `copy … to stdout` says in format text. */
  sha256: string;
  /** What is stored of it, compressed. */
  stored: Stored;
}
