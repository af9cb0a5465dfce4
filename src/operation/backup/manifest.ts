import type { Stored } from './measure.ts';

/** The contents of a backup. It is written last, so its presence means that the backup is complete. */
export interface Manifest {
  format: 1;
  backup_id: string;
  /** Time of the snapshot, by the database's clock. */
  made_at: string;
  postgres_version: string;
  /** Names of the applied migrations, which define the schema. */
  migrations: string[];
  tables: BackedUpTable[];
  files: {
    /** The list of files, one per line with SHA-256 and size. */
    list: Stored;
    count: number;
    byte_size: number;
    /** Files that the database refers to, but that were missing or damaged in the file store. */
    missing: string[];
  };
  /** Set if later moments can be recovered from this backup and the WAL of its cluster. */
  base?: BaseBackup;
}

/** A copy of PostgreSQL's files, made after the snapshot. */
export interface BaseBackup {
  /** Identifies the cluster. */
  system_identifier: string;
  timeline: number;
  /** The WAL between these positions is needed to make the copy consistent. */
  start_lsn: string;
  stop_lsn: string;
  /** Start time by the database's clock: gaps in the WAL before it do not matter. */
  started_at: string;
  /** The first recoverable moment, by the database's clock. */
  stopped_at: string;
  /** The stored tar file and PostgreSQL's manifest of it, both compressed. */
  archive: Stored;
  manifest: Stored;
}

export interface BackedUpTable {
  name: string;
  columns: string[];
  rows: number;
  /** The SHA-256 of the output of `copy … to stdout` in text format. */
  sha256: string;
  /** The stored object, compressed. */
  stored: Stored;
}
