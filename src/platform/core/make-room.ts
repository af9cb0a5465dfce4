/**
 * Where a map in the order of use has as many entries as it may, deletes the first tenth of them. Many at once, because to find
 * the first entry of a Map means to pass by the places of all that were deleted before it.
 */
export function makeRoom(map: Map<string, unknown>, most: number): void {
  if (map.size < most) return;
  let left = Math.ceil(most / 10);
  for (const oldest of map.keys()) {
    if (left-- === 0) return;
    map.delete(oldest);
  }
}
