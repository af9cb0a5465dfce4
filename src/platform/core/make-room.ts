/**
 * Evicts the oldest tenth of a map in order of use, if it has `most` entries. Evicts in bulk, because finding the first
 * entry of a Map scans the tombstones of deleted ones.
 */
export function makeRoom(map: Map<string, unknown>, most: number): void {
  if (map.size < most) return;
  let left = Math.ceil(most / 10);
  for (const oldest of map.keys()) {
    if (left-- === 0) return;
    map.delete(oldest);
  }
}
