/** A page among its siblings, which are ordered by position, then by page_id. */
export interface Sibling {
  page_id: string;
  position: number;
}

/**
 * Returns the positions to send, one after another, to place a page at index `at` of `others`, the other pages of its
 * parent in order. The API shifts siblings if a position is taken, so one request is enough unless neighbours share a
 * position. `moved` has the position -1 if it comes from another parent.
 */
export function positionsFor(moved: Sibling, others: readonly Sibling[], at: number): Sibling[] {
  const [previous, next] = [others[at - 1], others[at]];
  if (!next) return [{ page_id: moved.page_id, position: previous ? previous.position + 1 : 0 }];
  const { position } = next;
  const isBetweenEqual = previous?.position === position;
  if (!isBetweenEqual && moved.position !== position) return [{ page_id: moved.page_id, position }];
  // Each insertion goes before the pages inserted earlier, so insert in reverse order and the moved page last.
  const behind = others
    .slice(at)
    .filter((it) => it.position === position)
    .reverse();
  return [...behind, ...(isBetweenEqual ? [moved] : [])].map(({ page_id }) => ({ page_id, position: position + 1 }));
}
