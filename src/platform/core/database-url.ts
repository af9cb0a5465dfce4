/**
 * The address of each server that a PostgreSQL URL names, as in libpq:
 * `postgres://user@one:5432,two:5433/db?target_session_attrs=read-write`.
 */
export function splitServers(url: string): string[] {
  const [, before = '', servers, after = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  if (servers === undefined) return [url];
  return servers.split(',').map((server) => before + server + after);
}

/** The values of `target_session_attrs` that are understood. */
export const SESSION_TARGETS = ['any', 'read-write', 'primary'];

/** What `target_session_attrs` of a PostgreSQL URL says; `any` without it. */
export function sessionTarget(url: string): string {
  return new URLSearchParams(/\?(.*)$/s.exec(url)?.[1]).get('target_session_attrs') ?? 'any';
}
