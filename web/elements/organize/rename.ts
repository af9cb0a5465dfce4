import { element } from './dom.ts';
import { closeFlash, leaveWith, showProblem } from './flash.ts';
import { pageOf, type Row, renamePage, treeContext } from './tree-pages.ts';

/** Shows a field in place of a row's title. Enter and leaving the field rename the page, Escape cancels. */
export function renameInPlace(row: Row): void {
  const box = row.leaf.getBoundingClientRect();
  const input = element('input', {
    value: row.title,
    maxLength: 255,
    required: true,
    ariaLabel: `New title for ${row.title}`,
  });
  const field = element('form', { className: 'row-rename', popover: 'auto' }, input);
  const place = { '--x': box.left, '--y': box.top, '--width': box.width, '--height': box.height };
  for (const [name, px] of Object.entries(place)) field.style.setProperty(name, `${px}px`);
  let isCancelled = false;
  // The popover closes on Escape by itself; this listener sees the key first.
  field.addEventListener('keydown', ({ key }) => (isCancelled ||= key === 'Escape'));
  field.addEventListener('submit', (event) => {
    event.preventDefault();
    // Hide this event from the tree, which drops its cached branches on a submit: the page changes only once the API
    // has answered.
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

/**
 * Sets the title of a row's page to the result of `next` and shows the message `text`, with Undo. Both receive the old
 * title; `text` also receives the new one.
 */
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
