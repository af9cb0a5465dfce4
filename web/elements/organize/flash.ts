import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import { callApi, errorMessage } from '../call-api.ts';
import { SHOW_ANEW, type ShowAnew } from '../on-page.ts';
import { element } from './dom.ts';
import { FLASH_KEY, type WaitingFlash } from './flash-key.ts';
import { type Place, placePage, renamePage, treeContext } from './tree-pages.ts';

/** How long a message is shown; it stays longer while the pointer or the focus is on it. */
const SHOWN_MS = 15_000;

type Undo =
  | { do: 'restore'; page_id: string }
  | { do: 'delete'; page_id: string }
  | { do: 'place'; page_id: string; place: Place }
  | { do: 'rename'; page_id: string; title: string };

interface Flash extends WaitingFlash {
  undo?: Undo;
  /** The address of the page whose row gets the focus afterwards. */
  focus?: string;
}

/** Refreshes the page and the tree, or shows another page, with a message. Falls back to a full load. */
export async function leaveWith(flash: Flash, to = location.pathname): Promise<void> {
  document.dispatchEvent(new Event('ibid-pages-changed'));
  if (await showAnew(to)) return present(flash);
  try {
    sessionStorage.setItem(FLASH_KEY, JSON.stringify(flash));
  } catch {
    // Storage is disabled: the tree still shows the change.
  }
  if (decodeURI(to) === decodeURI(location.pathname)) location.reload();
  else location.href = to;
}

/** Asks the navigation module, which is in another bundle, to show a page. */
function showAnew(href: string): Promise<boolean> {
  return new Promise((done) => {
    const detail: ShowAnew = { href, done };
    const isUnanswered = document.dispatchEvent(new CustomEvent(SHOW_ANEW, { cancelable: true, detail }));
    if (isUnanswered) done(false);
  });
}

/** Shows the message stored for this document. */
export function showWaitingFlash(): void {
  const waiting = sessionStorage.getItem(FLASH_KEY);
  if (waiting === null) return;
  sessionStorage.removeItem(FLASH_KEY);
  const flash = JSON.parse(waiting) as Flash;
  // Skip a message whose link leads to this page.
  if (flash.link?.href !== location.pathname + location.search) present(flash);
}

function present(flash: Flash): void {
  showFlash(flash);
  const rows = document.querySelectorAll<HTMLElement>('.tree-roots .leaf');
  [...rows].find((leaf) => leaf.getAttribute('href') === flash.focus)?.focus();
}

export function showProblem(problem: unknown): void {
  showFlash({ text: errorMessage(problem) }, true);
}

let closeShown: (() => void) | undefined;

/** Removes the message, because its Undo belongs to the previous change. Called when the next change begins. */
export function closeFlash(): void {
  closeShown?.();
}

function showFlash({ text, undo, link }: Flash, isBad = false): void {
  closeFlash();
  const box = element('div', { className: isBad ? 'flash bad' : 'flash' });
  box.setAttribute('role', isBad ? 'alert' : 'status');
  const close = () => {
    box.remove();
    document.removeEventListener('keydown', onKey);
  };
  const take = (back: Undo) => {
    close();
    void undoIt(back);
  };
  const onKey = (event: KeyboardEvent) => {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'z';
    const isTyping = (event.target as Element).closest?.('input, textarea, select, [contenteditable], ibid-palette');
    if (!isUndo || isTyping || !undo) return;
    event.preventDefault();
    take(undo);
  };
  if (undo) {
    const button = element('button', { className: 'button', type: 'button', title: 'Undo (Ctrl+Z)' }, 'Undo');
    button.addEventListener('click', () => take(undo));
    box.append(button);
  }
  if (link) box.append(element('a', { className: 'button', href: link.href }, link.name));
  const end = element('button', { className: 'button quiet', type: 'button', ariaLabel: 'Close' }, '×');
  end.addEventListener('click', close);
  box.append(end);
  document.addEventListener('keydown', onKey);
  // First in the document, so that it is the first tab stop. A status is announced only when its content changes, so
  // the text follows later.
  document.body.prepend(box);
  requestAnimationFrame(() => box.prepend(element('span', {}, text)));
  closeShown = close;
  const expire = () => {
    if (box.matches(':hover, :focus-within')) setTimeout(expire, SHOWN_MS);
    else close();
  };
  setTimeout(expire, SHOWN_MS);
}

async function undoIt(undo: Undo): Promise<void> {
  const { root, api } = treeContext();
  const address = `${api}/pages/${undo.page_id}`;
  const current = location.pathname;
  try {
    if (undo.do === 'delete') {
      await callApi('DELETE', address);
      return await leaveWith({ text: 'The copy was moved to the trash.' }, root);
    }
    const page = await takeBack(undo, address);
    const focus = `${root}/${page.path}`;
    await leaveWith(
      { text: `The change to “${page.title}” was undone.`, focus },
      undo.do === 'restore' ? focus : current,
    );
  } catch (error) {
    showProblem(error);
  }
}

async function takeBack(undo: Exclude<Undo, { do: 'delete' }>, address: string): Promise<FullPage> {
  if (undo.do === 'restore') return callApi('POST', `${address}/restore`);
  const page = await callApi<FullPage>('GET', address);
  if (undo.do === 'rename') return renamePage(page, undo.title);
  return placePage(page, undo.place);
}
