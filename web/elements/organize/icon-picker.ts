import { findEmoji, OFTEN_USED } from '../emoji-use.ts';
import { loadEmojiNames } from '../lazy-modules.ts';
import { element } from './dom.ts';
import { closeFlash, showProblem } from './flash.ts';
import { placeBeside } from './menu.ts';
import { splitTitle, withIcon } from './page-icon.ts';
import { retitle } from './rename.ts';
import type { Row } from './tree-pages.ts';

const SHOWN = 120;

/** Lets the user choose the icon of a page: the emoji that its title begins with. The focus returns to `opener`. */
export async function chooseIcon(row: Omit<Row, 'row'>, opener: HTMLElement = row.leaf): Promise<void> {
  closeFlash();
  let names: Record<string, string>;
  try {
    names = await loadEmojiNames();
  } catch (error) {
    return showProblem(error);
  }
  const { icon } = splitTitle(row.title);
  const label = `Icon for ${row.title}`;
  const box = element('div', { className: 'sheet icon-picker', popover: 'auto', role: 'dialog', ariaLabel: label });
  const input = element('input', { type: 'search', placeholder: 'Search by name', ariaLabel: 'Search icons' });
  const grid = element('div', { className: 'icon-grid', role: 'group', ariaLabel: 'Icons' });
  const none = element('p', { className: 'small', hidden: true }, 'No matching icons.');
  const choose = (chosen: string) => {
    box.hidePopover();
    if (chosen !== icon) void setIcon(row, chosen);
  };
  const show = () => {
    const words = input.value.trim().toLowerCase().replace(/\s+/g, '_');
    const found = words === '' ? OFTEN_USED : findEmoji(Object.keys(names), words);
    // Several names can map to one emoji.
    const emoji = new Map(found.map((name) => [names[name] ?? '', name.replaceAll('_', ' ')]));
    emoji.delete('');
    grid.replaceChildren(
      ...[...emoji].slice(0, SHOWN).map(([it, name], i) => {
        const button = element(
          'button',
          { type: 'button', title: name, ariaLabel: name, tabIndex: i === 0 ? 0 : -1 },
          it,
        );
        button.addEventListener('click', () => choose(it));
        return button;
      }),
    );
    none.hidden = emoji.size > 0;
  };
  input.addEventListener('input', show);
  box.addEventListener('keydown', (event) => moveInGrid(event, grid, input));
  box.addEventListener('toggle', (event) => {
    if ((event as ToggleEvent).newState !== 'closed') return;
    const hadFocus = box.contains(document.activeElement) || document.activeElement === document.body;
    box.remove();
    if (hadFocus) opener.focus({ preventScroll: true });
  });
  show();
  box.append(input, grid, none);
  if (icon !== '') {
    const remove = element('button', { type: 'button', className: 'button quiet' }, 'Remove icon');
    remove.addEventListener('click', () => choose(''));
    box.append(remove);
  }
  document.body.append(box);
  box.showPopover();
  placeBeside(box, opener.getBoundingClientRect());
  input.focus();
}

function setIcon(row: Pick<Row, 'leaf'>, icon: string): Promise<void> {
  return retitle(
    row,
    (was) => withIcon(was, icon),
    (_was, now) =>
      icon === '' ? `“${now}” no longer has an icon.` : `The icon of “${splitTitle(now).name}” is now ${icon}.`,
  );
}

/**
 * Moves the focus from the field into the grid and through it by arrow keys. Enter in the field chooses the first
 * emoji.
 */
function moveInGrid(event: KeyboardEvent, grid: HTMLElement, input: HTMLInputElement): void {
  const buttons = [...grid.querySelectorAll('button')];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const top = buttons[0]?.offsetTop;
  const inRow = Math.max(1, buttons.filter((it) => it.offsetTop === top).length);
  const isRtl = getComputedStyle(grid).direction === 'rtl';
  const steps = { ArrowLeft: isRtl ? 1 : -1, ArrowRight: isRtl ? -1 : 1, ArrowUp: -inRow, ArrowDown: inRow };
  const step = steps[event.key as keyof typeof steps];
  if (event.target === input && event.key === 'Enter' && !event.isComposing) buttons[0]?.click();
  else if (event.target === input && event.key === 'ArrowDown') buttons[0]?.focus();
  else if (at >= 0 && step !== undefined) (buttons[at + step] ?? (step < 0 ? input : buttons.at(-1)))?.focus();
  else return;
  event.preventDefault();
}
