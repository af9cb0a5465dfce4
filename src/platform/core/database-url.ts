/**
 * Splits a PostgreSQL URL with several hosts, as accepted by libpq, into one URL per host:
 * `postgres://user@one:5432,two:5433/db?target_session_attrs=read-write`.
 */
export function splitServers(url: string): string[] {
  const [, before = '', servers, after = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  if (servers === undefined) return [url];
  return servers.split(',').map((server) => before + server + after);
}

/** Supported values of `target_session_attrs`. */
export const SESSION_TARGETS = ['any', 'read-write', 'primary'];

/** Returns `target_session_attrs` of a PostgreSQL URL; defaults to `any`. */
export function sessionTarget(url: string): string {
  return new URLSearchParams(/\?(.*)$/s.exec(url)?.[1]).get('target_session_attrs') ?? 'any';
}
