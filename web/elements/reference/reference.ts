import 'openapi-explorer';

/** The part of openapi-explorer's interface that the reference page uses. */
interface Explorer extends HTMLElement {
  setAuthenticationConfiguration(scheme: string, options: { token: string }): Promise<void>;
}

/**
 * Colours of methods, types and code. On the host element they would have to be hex values, so they are set inside its
 * shadow tree.
 */
const COLOURS = `
#the-main-body, .dialog-box-overlay {
  --red: var(--bad); --orange: var(--code-number); --yellow: var(--code-number); --green: var(--code-string);
  --blue: var(--code-name); --purple: var(--code-keyword); --pink: var(--code-keyword); --gray: var(--ink-2);
  --light-red: var(--paper-3); --light-orange: var(--paper-3); --light-yellow: var(--paper-3); --light-green: var(--paper-3);
  --light-blue: var(--paper-3); --light-purple: var(--paper-3); --light-gray: var(--paper-3);
}
@media (prefers-reduced-motion: reduce) {
  *, api-response::part(btn--resp) { transition: none !important; }
}
.m-btn.primary:is(:hover, :focus-visible) { color: var(--on-accent); }
api-response::part(btn-fill--resp):hover, api-response::part(btn-fill--resp):focus-visible { color: var(--on-accent); }`;

const SCHEMES = ['bearer', 'widget'];

const explorer = document.querySelector<Explorer>('openapi-explorer');
const form = explorer?.querySelector('form');
keepOnlyRoute();
if (explorer?.shadowRoot) paint(explorer.shadowRoot);
if (explorer && form) keepKey(explorer, form);

/**
 * Removes all but the route from the address. openapi-explorer accepts an access token from the address, as from an
 * OAuth server, so a malicious link could make readers write to its author's account.
 */
function keepOnlyRoute(): void {
  const route = new URLSearchParams(location.hash.slice(1)).get('route') ?? '';
  history.replaceState(null, '', `${location.pathname}${/^[\w./-]+$/.test(route) ? `#?route=${route}` : ''}`);
}

function paint(root: ShadowRoot): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(COLOURS);
  root.adoptedStyleSheets.push(sheet);
}

/** Sends the API key of the form with each request, until it is removed or the page is left. */
function keepKey(explorer: Explorer, form: HTMLFormElement): void {
  const input = form.querySelector('input');
  const state = form.querySelector('[role=status]');
  const remove = form.querySelector<HTMLButtonElement>('button[type=button]');
  if (!input || !state || !remove) return;
  const without = state.textContent;
  const use = async (token: string) => {
    keepOnlyRoute();
    for (const scheme of SCHEMES) await explorer.setAuthenticationConfiguration(scheme, { token });
    state.textContent = token === '' ? without : 'Requests from this page use your key.';
    remove.hidden = token === '';
    input.value = '';
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void use(input.value.trim());
  });
  remove.addEventListener('click', () => void use(''));
}
