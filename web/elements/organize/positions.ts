/** A page among its siblings, which are ordered by position, then by page_id. */
export interface Sibling {
  page_id: string;
  position: number;
}

/**
 * The positions to send, one after the other, for a page to lie at the index `at` of `others`: the other pages of its parent,
 * in their order. The API makes room where a position is taken, so one is enough unless neighbours share theirs. `moved` has
 * the position -1 where it comes from another parent.
 */
export function positionsFor(moved: Sibling, others: readonly Sibling[], at: number): Sibling[] {
  const [previous, next] = [others[at - 1], others[at]];
  if (!next) return [{ page_id: moved.page_id, position: previous ? previous.position + 1 : 0 }];
  const { position } = next;
  const isBetweenEqual = previous?.position === position;
  if (!isBetweenEqual && moved.position !== position) return [{ page_id: moved.page_id, position }];
  // Each is put before those that were put there already, the page itself last.
  const behind = others
    .slice(at)
    .filter((it) => it.position === position)
    .reverse();
  return [...behind, ...(isBetweenEqual ? [moved] : [])].map(({ page_id }) => ({ page_id, position: position + 1 }));
}
