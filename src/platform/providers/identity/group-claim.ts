import { isRecord } from './fetch-json.ts';

/** The most groups that are read. */
const GROUPS_MAX = 10_000;

/**
 * The groups in a claim: a list, or one name, which is not split, as its separator may be part of a name. undefined if it is missing
 * or anything else. `name` is the claim's, or its path with dots between (realm_access.roles).
 */
export function groupsOf(claims: object, name: string): string[] | undefined {
  const value = Object.hasOwn(claims, name) ? (claims as Record<string, unknown>)[name] : atPath(claims, name);
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (!Array.isArray(value) || value.length > GROUPS_MAX) return undefined;
  return value.filter((group) => typeof group === 'string');
}

function atPath(claims: object, path: string): unknown {
  let value: unknown = claims;
  for (const part of path.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}
