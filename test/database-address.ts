/** Returns the URL of a PostgreSQL that listens on a Unix socket. */
export function addressOf(connection: { host: string; port: number; user: string; database: string }): string {
  return `postgres://${connection.user}@${encodeURIComponent(connection.host)}:${connection.port}/${connection.database}`;
}
