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
  /** Where the backup leads to later moments, with the WAL that is stored of the same cluster. */
  base?: BaseBackup;
}

/** A copy of the files of PostgreSQL, made after the snapshot. */
export interface BaseBackup {
  /** Names the cluster. */
  system_identifier: string;
  timeline: number;
  /** The WAL from and up to where is needed to make the copy whole. */
  start_lsn: string;
  stop_lsn: string;
  /** When it was begun, by the database's clock: WAL that was lost before does not matter. */
  started_at: string;
  /** The first moment that can be recovered, by the database's clock. */
  stopped_at: string;
  /** What is stored of the tar file and of the manifest that PostgreSQL made of it, both compressed. */
  archive: Stored;
  manifest: Stored;
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
