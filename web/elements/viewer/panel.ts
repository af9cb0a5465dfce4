import { onPage } from '../on-page.ts';

/** As in styles/viewer.css: narrower windows have no room for a panel next to the page. */
const NARROW = '(max-width: 52rem)';

let shown: ViewerPanel | undefined;

/**
 * A panel next to the page with a bar above it; in a narrow window it covers the page. There is one panel at a time,
 * and a new panel closes the previous one. Closing a panel returns the focus to the element that had it when the link
 * was followed.
 */
export class ViewerPanel {
  readonly dialog = document.createElement('dialog');
  readonly #status = document.createElement('p');
  readonly #ended = new AbortController();

  constructor(link: HTMLAnchorElement, name: string, controls: readonly HTMLElement[], content: HTMLElement) {
    // A popover of passages would cover the panel. Hiding it returns the focus to its mark.
    link.closest<HTMLElement>('[popover]')?.hidePopover();
    const focused = document.activeElement;
    const opener = focused instanceof HTMLElement && focused !== document.body ? focused : link;
    shown?.close();
    shown = this;
    this.dialog.className = 'viewer';
    this.dialog.setAttribute('aria-label', name);
    this.#status.className = 'viewer-status';
    this.#status.setAttribute('role', 'status');
    this.#status.textContent = 'Loading…';
    this.dialog.append(this.#bar(name, controls), this.#status, content);
    this.dialog.addEventListener('keydown', ({ key }) => key === 'Escape' && this.close());
    this.dialog.addEventListener('close', () => this.#end(opener));
    document.body.append(this.dialog);
    document.documentElement.classList.add('with-viewer');
    if (matchMedia(NARROW).matches) this.dialog.showModal();
    else this.dialog.show();
  }

  /** Aborted when the panel is closed. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  close(): void {
    this.dialog.close();
  }

  /** Shows that the content has loaded. Focuses `content`, so that keys scroll it. */
  ready(content: HTMLElement): void {
    this.#status.textContent = '';
    this.dialog.dataset.ready = '';
    if (this.dialog.contains(document.activeElement)) content.focus();
  }

  fail(why: string): void {
    if (!this.ended.aborted) this.#status.textContent = why;
  }

  #end(opener: HTMLElement): void {
    if (this.ended.aborted) return;
    this.#ended.abort();
    this.dialog.remove();
    if (shown !== this) return;
    shown = undefined;
    document.documentElement.classList.remove('with-viewer');
    if (opener.isConnected) opener.focus();
  }

  #bar(name: string, controls: readonly HTMLElement[]): HTMLElement {
    const bar = document.createElement('div');
    bar.className = 'viewer-bar';
    const title = document.createElement('strong');
    title.textContent = name;
    title.dir = 'auto';
    bar.append(
      title,
      ...controls,
      barButton('✕', 'Close', () => this.close()),
    );
    return bar;
  }
}

export function barButton(text: string, name: string, press: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  Object.assign(made, { type: 'button', className: 'button quiet', textContent: text, title: name });
  made.setAttribute('aria-label', name);
  made.addEventListener('click', press);
  return made;
}

/** Creates a link in the bar that opens the same content in a new tab. */
export function barLink(href: string, name: string): HTMLAnchorElement {
  const made = document.createElement('a');
  made.className = 'button quiet';
  Object.assign(made, { href, target: '_blank', textContent: '↗', title: name });
  made.setAttribute('aria-label', name);
  return made;
}

// Another page has other sources.
onPage(() => shown?.close());
