import { type ToolIcon, toolIcon } from './tool-icons.ts';

export interface Tool {
  name: string;
  /** The label of the button: a text or an icon. */
  sign: string | { icon: ToolIcon };
  keys?: string;
  run(): void;
  /** Whether the tool is on at the cursor. Tools that only act do not have it. */
  isOn?(): boolean;
}

/** Returns a name that contains the text on the button, because users of speech control say the text they see. */
function accessibleName({ name, sign }: Tool): string {
  const isShown = typeof sign === 'string' && /\p{L}/u.test(sign);
  return isShown && !name.toLowerCase().includes(sign.toLowerCase()) ? `${name} ${sign}` : name;
}

/** The toolbar of the editor: a single tab stop with arrow keys inside, following WAI-ARIA's toolbar pattern. */
export class Toolbar {
  readonly element = document.createElement('div');
  readonly #buttons: [HTMLButtonElement, Tool][] = [];

  constructor(label: string, groups: readonly (readonly Tool[])[]) {
    this.element.className = 'tools';
    this.element.setAttribute('role', 'toolbar');
    this.element.setAttribute('aria-label', label);
    for (const group of groups) {
      const part = document.createElement('div');
      part.append(...group.map((tool) => this.#button(tool)));
      this.element.append(part);
    }
    this.element.addEventListener('keydown', (event) => this.#move(event));
    this.update();
  }

  #button(tool: Tool): HTMLButtonElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(typeof tool.sign === 'string' ? tool.sign : toolIcon(tool.sign.icon));
    button.title = tool.keys ? `${tool.name} (${tool.keys})` : tool.name;
    button.setAttribute('aria-label', accessibleName(tool));
    button.tabIndex = this.#buttons.length === 0 ? 0 : -1;
    // Keep the selection in the text.
    button.addEventListener('mousedown', (event) => event.preventDefault());
    button.addEventListener('click', () => {
      tool.run();
      this.update();
    });
    this.#buttons.push([button, tool]);
    return button;
  }

  /** Shows which tools are on at the cursor. */
  update(): void {
    for (const [button, { isOn }] of this.#buttons) {
      if (!isOn) continue;
      const pressed = String(isOn());
      // Setting an unchanged attribute would recompute styles at each key.
      if (button.getAttribute('aria-pressed') !== pressed) button.setAttribute('aria-pressed', pressed);
    }
  }

  #move(event: KeyboardEvent): void {
    const all = this.#buttons.map(([button]) => button);
    const at = all.indexOf(event.target as HTMLButtonElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = all[(to + all.length) % all.length];
    for (const button of all) button.tabIndex = button === next ? 0 : -1;
    next?.focus();
  }
}
