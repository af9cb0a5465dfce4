/** A replica and its use by this process. */
export interface ReplicaUsage {
  /** Host and port. */
  server: string;
  /** Whether the replica answers and is up to date, as of the last check. */
  isUp: boolean;
  lag_seconds: number;
  lag_bytes: number;
  /**
   * `reads` counts reads that it answered; `fallbacks` counts reads that the primary answered after the replica failed.
   */
  reads: number;
  fallbacks: number;
}
