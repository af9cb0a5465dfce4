/** A replica, and how it is used by this process. */
export interface ReplicaUsage {
  /** Its host and port. */
  server: string;
  /** Whether it answers and is as new as the primary, as far as is known. */
  isUp: boolean;
  /** By how much it was behind the primary when it was last looked at. */
  lag_seconds: number;
  lag_bytes: number;
  /** Reads that it answered, and those that the primary answered instead after it was asked. */
  reads: number;
  fallbacks: number;
}
