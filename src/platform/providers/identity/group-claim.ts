import { isRecord } from './fetch-json.ts';

/** Longer lists are ignored. */
const GROUPS_MAX = 10_000;

/**
 * Returns the groups in a claim: a list, or a single name. A single name is not split, because its separator may be
 * part of a name. Returns undefined if the claim is missing or has another type. `name` is the name of the claim, or
 * its path with dots (realm_access.roles).
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
