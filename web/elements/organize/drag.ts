import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import { movePageTo } from './actions.ts';
import { type Place, pageOf, type Row, rowAt, treeContext } from './tree-pages.ts';

/** How long a dragged row must stay over a closed branch before the branch opens. */
const OPEN_AFTER_MS = 600;

type Side = 'before' | 'behind' | 'into';

interface Target {
  row: HTMLElement;
  side: Side;
}

let dragged: Row | undefined;
let target: Target | undefined;
let opening: ReturnType<typeof setTimeout> | undefined;

/**
 * Lets users drag rows of the tree before, after or into other rows. During a drag only a line or a frame marks the
 * target row; the layout does not change.
 */
export function dragRows(): void {
  document.addEventListener('dragstart', ({ target: from, dataTransfer }) => {
    const row = rowAt(from);
    if (!row?.row.closest('.tree-roots') || !treeContext().can('pages:write')) return;
    dragged = row;
    // The row is a link, so it can also be dropped on a text.
    if (dataTransfer) dataTransfer.effectAllowed = 'all';
  });
  document.addEventListener('dragover', (event) => {
    if (!dragged) return;
    aimAt(targetAt(event, dragged));
    if (!target) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = 'move';
  });
  document.addEventListener('dragend', () => {
    aimAt(undefined);
    dragged = undefined;
  });
  document.addEventListener('drop', (event) => {
    if (!dragged || !target) return;
    event.preventDefault();
    const row = rowAt(target.row);
    const { side } = target;
    if (row) void movePageTo(dragged, async () => placeBeside(await pageOf(row), side));
  });
}

/**
 * Returns the drop target: the upper quarter of a row means before it, the lower quarter after it, the middle into it.
 */
function targetAt({ target: over, clientY }: DragEvent, { row: from }: Row): Target | undefined {
  const row = (over as Element).closest<HTMLElement>('.tree-roots .row:has(> .leaf)');
  const item = row?.closest('li');
  // A page cannot move below itself.
  if (!row || !item || from.closest('li')?.contains(item)) return undefined;
  const { top, height } = row.getBoundingClientRect();
  const part = (clientY - top) / height;
  // The lower edge of an open branch borders on its first page.
  const first = item.classList.contains('open') && item.querySelector<HTMLElement>(':scope > ul > li > .row');
  if (part > 0.75 && first) return first === from ? undefined : { row: first, side: 'before' };
  return { row, side: part < 0.25 ? 'before' : part > 0.75 ? 'behind' : 'into' };
}

function aimAt(next: Target | undefined): void {
  if (next?.row === target?.row && next?.side === target?.side) return;
  clearTimeout(opening);
  if (target) delete target.row.dataset.drop;
  target = next;
  if (!next) return;
  next.row.dataset.drop = next.side;
  const twist = next.row.querySelector<HTMLElement>('a.twist');
  const isClosed = !next.row.closest('li')?.classList.contains('open');
  if (next.side === 'into' && twist && isClosed) opening = setTimeout(() => twist.click(), OPEN_AFTER_MS);
}

function placeBeside({ page_id, parent_page_id }: FullPage, side: Side): Place {
  return side === 'into' ? { parent_page_id: page_id } : { parent_page_id, [side]: page_id };
}
