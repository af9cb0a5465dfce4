import { importSibling } from '../lazy-modules.ts';
import { FLASH_KEY } from './flash-key.ts';
import type * as Organize from './organize.ts';
import { openSheets } from './sheets.ts';
import { resizeSidebar } from './sidebar.ts';

openSheets();
resizeSidebar();

/**
 * Loads the module that edits the tree when the pointer, a finger or the focus reaches a row. The listeners are on the
 * document, because rows are added and removed.
 */
let loading: Promise<typeof Organize> | undefined;
function load(): Promise<typeof Organize> {
  loading ??= importSibling('organize.js') as Promise<typeof Organize>;
  // After an update of the service the file has another address, which the next document contains.
  loading.catch(() => (loading = undefined));
  return loading;
}

/**
 * Returns the row of the tree that an event is in. For fingers, the "…" is a pseudo-element of the row, so the row
 * itself is the target.
 */
function rowOf({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('.tree .row:has(> .leaf)') : null;
}

for (const type of ['pointerover', 'focusin']) {
  document.addEventListener(type, async (event) => {
    const row = rowOf(event);
    if (row) (await load()).showTools(row);
  });
}

document.addEventListener('click', async (event) => {
  const row = rowOf(event);
  if (row && event.target === row && matchMedia('(hover: none)').matches) (await load()).openRowMenu(row);
});

document.addEventListener('click', async ({ target }) => {
  const { pageIcon, title = '' } = (target as Element).closest<HTMLElement>('[data-page-icon]')?.dataset ?? {};
  if (pageIcon !== undefined) (await load()).chooseIconAt(pageIcon, title);
});

document.addEventListener('click', async ({ target }) => {
  const address = (target as Element).closest<HTMLElement>('[data-download-page]')?.dataset.downloadPage;
  if (address !== undefined) (await load()).downloadPageAt(address);
});

document.addEventListener('keydown', async (event) => {
  const { key, altKey, shiftKey } = event;
  const isOurs =
    key === 'F2' || key === 'ContextMenu' || (shiftKey && key === 'F10') || (altKey && /^Arrow(?:Up|Down)$/.test(key));
  const row = isOurs && rowOf(event);
  if (!row) return;
  event.preventDefault();
  (await load()).pressInRow(event, row);
});

// A long touch opens the menu of the row. The key listener above has already handled the menu key, and the mouse keeps
// the browser's menu.
document.addEventListener('contextmenu', async (event) => {
  const row = rowOf(event);
  if (!row || event.button === 2 || event.ctrlKey) return;
  event.preventDefault();
  if ((event as PointerEvent).pointerType === 'touch') (await load()).openRowMenu(row);
});

try {
  if (sessionStorage.getItem(FLASH_KEY) !== null) void load().then(({ showWaitingFlash }) => showWaitingFlash());
} catch {
  // Storage is disabled, so no message is stored.
}
