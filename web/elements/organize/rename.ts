import { element } from './dom.ts';
import { closeFlash, leaveWith, showProblem } from './flash.ts';
import { pageOf, type Row, renamePage, treeContext } from './tree-pages.ts';

/** A field in the place of a row's title. Enter and leaving it rename the page, Escape does not. */
export function renameInPlace(row: Row): void {
  const box = row.leaf.getBoundingClientRect();
  const input = element('input', {
    value: row.title,
    maxLength: 255,
    required: true,
    ariaLabel: `New title of ${row.title}`,
  });
  const field = element('form', { className: 'row-rename', popover: 'auto' }, input);
  const place = { '--x': box.left, '--y': box.top, '--width': box.width, '--height': box.height };
  for (const [name, px] of Object.entries(place)) field.style.setProperty(name, `${px}px`);
  let isCancelled = false;
  // The popover closes on Escape by itself; it is seen here first.
  field.addEventListener('keydown', ({ key }) => (isCancelled ||= key === 'Escape'));
  field.addEventListener('submit', (event) => {
    event.preventDefault();
    // It changes pages only when its answer is there.
    event.stopPropagation();
    field.hidePopover();
  });
  field.addEventListener('toggle', (event) => {
    if ((event as ToggleEvent).newState !== 'closed') return;
    field.remove();
    row.leaf.focus({ preventScroll: true });
    const title = input.value.trim();
    if (!isCancelled && title !== '' && title !== row.title) void rename(row, title);
  });
  document.body.append(field);
  field.showPopover();
  input.select();
}

function rename(row: Row, title: string): Promise<void> {
  return retitle(
    row,
    () => title,
    (was, now) => `“${was}” is now “${now}”.`,
  );
}

/** Gives the page of a row the title that `next` makes of its own, and says so; `text` is given both. Undo takes it back. */
export async function retitle(
  row: Pick<Row, 'leaf'>,
  next: (was: string) => string,
  text: (was: string, now: string) => string,
): Promise<void> {
  const { root } = treeContext();
  closeFlash();
  try {
    const page = await pageOf(row);
    const { page_id, title: was } = page;
    const saved = await renamePage(page, next(was));
    await leaveWith({
      text: text(was, saved.title),
      undo: { do: 'rename', page_id, title: was },
      focus: `${root}/${saved.path}`,
    });
  } catch (error) {
    showProblem(error);
  }
}
