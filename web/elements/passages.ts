/** Elements that contain blocks, as the API counts them; every other element is one block. */
const CONTAINERS = 'dl, ol, section, table, tbody, tfoot, thead, ul';

/**
 * Returns the blocks of the text in order. Their count must match `web/blocks.ts` on the server, because passages are
 * found by block number. The byline, tags and properties below a title are not part of the text.
 */
function blocksIn(parent: Element): HTMLElement[] {
  return [...parent.children].flatMap((child) => {
    if (child.matches('.byline, .page-tags, .properties')) return [];
    return child.matches(CONTAINERS) ? blocksIn(child) : [child as HTMLElement];
  });
}

/**
 * Shows the source of each block of the text. A mark next to the block under the pointer opens the passage of its
 * source. By keyboard the mark is one tab stop before the text; the arrow keys move it from block to block.
 */
class Passages extends HTMLElement {
  readonly #mark = document.createElement('button');
  readonly #box = document.createElement('div');
  #blocks: HTMLElement[] = [];
  #current = 0;
  #passages: Promise<Document> | undefined;

  readonly #left = new AbortController();

  disconnectedCallback(): void {
    this.#left.abort();
  }

  connectedCallback(): void {
    const prose = this.closest('article')?.querySelector<HTMLElement>(':scope > .prose');
    if (!prose) return;
    this.#blocks = blocksIn(prose);
    this.#mark.type = 'button';
    this.#mark.className = 'passage-mark';
    this.#mark.textContent = '§';
    this.#box.className = 'passage-box';
    this.#box.popover = 'auto';
    this.#box.tabIndex = -1;
    this.#box.setAttribute('role', 'dialog');
    this.#box.setAttribute('aria-label', 'Source of this passage');
    this.append(this.#mark, this.#box);
    this.#labelMark();
    prose.addEventListener('pointerover', ({ target }) => {
      // Rendered formulas and diagrams have replaced some of the elements.
      this.#blocks = blocksIn(prose);
      const at = this.#blocks.findIndex((block) => block.contains(target as Node));
      if (at >= 0 && !this.#isOpen) this.#moveTo(at);
    });
    this.#mark.addEventListener('focus', () => this.#moveTo(this.#current));
    this.#mark.addEventListener('click', () => void this.#open());
    this.#mark.addEventListener('keydown', (event) => {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (step === 0) return;
      event.preventDefault();
      this.#moveTo(Math.max(0, Math.min(this.#current + step, this.#blocks.length - 1)));
      this.#block?.scrollIntoView({ block: 'nearest' });
    });
    const positionAgain = () => {
      if (this.#block && this.#isOpen) this.#positionBox(this.#block);
    };
    addEventListener('resize', positionAgain, { signal: this.#left.signal });
    this.#box.addEventListener('toggle', () => this.#block?.classList.toggle('followed', this.#isOpen));
  }

  get #block(): HTMLElement | undefined {
    return this.#blocks[this.#current];
  }
  get #isOpen(): boolean {
    return this.#box.matches(':popover-open');
  }

  #moveTo(at: number): void {
    this.#current = at;
    const place = this.#block?.getBoundingClientRect();
    if (!place) return;
    this.classList.add('shown');
    this.#mark.style.top = `${place.top - this.getBoundingClientRect().top}px`;
    this.#labelMark();
  }

  #labelMark(): void {
    const words = (this.#block?.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 60);
    this.#mark.setAttribute('aria-label', `Where does this come from? ${words}`);
    this.#mark.title = 'Where does this come from?';
  }

  async #open(): Promise<void> {
    const block = this.#block;
    if (!block) return;
    this.#box.replaceChildren('Loading…');
    this.#box.showPopover();
    this.#positionBox(block);
    try {
      this.#passages ??= this.#loadPassages();
      const passage = (await this.#passages).getElementById(`from-${this.#current}`);
      this.#box.replaceChildren(
        passage ? document.importNode(passage, true) : 'This passage has no source. It was written in the wiki.',
      );
    } catch {
      this.#passages = undefined;
      this.#box.replaceChildren('Could not load the source. Try again later.');
    }
    this.#positionBox(block);
    this.#box.focus();
  }

  /**
   * Loads the page that lists all passages, which also serves browsers without scripts. It is our own page, so its
   * elements are safe to import.
   */
  async #loadPassages(): Promise<Document> {
    const response = await fetch(this.dataset.from ?? '', { headers: { accept: 'text/html' } });
    if (!response.ok || response.redirected) throw new Error(`cannot load the passages: HTTP ${response.status}`);
    return new DOMParser().parseFromString(await response.text(), 'text/html');
  }

  /** Places the box below the block, or above it if there is no room. */
  #positionBox(block: HTMLElement): void {
    const { top, bottom, left } = block.getBoundingClientRect();
    const { offsetHeight: height, offsetWidth: width } = this.#box;
    const isBelow = bottom + height + 8 < innerHeight || top < height + 64;
    this.#box.style.top = `${scrollY + (isBelow ? bottom + 6 : top - height - 6)}px`;
    // A CSS expression, so that the box stays inside a window that becomes narrower.
    this.#box.style.left = `max(8px, min(${left}px, 100% - ${width + 8}px))`;
  }
}

customElements.define('ibid-passages', Passages);
