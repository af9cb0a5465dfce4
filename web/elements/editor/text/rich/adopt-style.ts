const adopted = new WeakMap<ShadowRoot, Set<string>>();
const loaded = new Map<string, Promise<CSSStyleSheet>>();

/** Loads a style sheet once. If loading fails, the sheet is empty, because the text can be edited without it. */
export function loadStyle(address: string): Promise<CSSStyleSheet> {
  const known = loaded.get(address);
  if (known) return known;
  const loading = fetchStyle(address);
  loaded.set(address, loading);
  return loading;
}

async function fetchStyle(address: string): Promise<CSSStyleSheet> {
  const sheet = new CSSStyleSheet({ baseURL: address });
  const reply = await fetch(address).catch(() => undefined);
  return reply?.ok ? sheet.replace(await reply.text()) : sheet;
}

/** Adopts a style sheet in a shadow tree, which the rules of the page do not reach. Repeated calls have no effect. */
export async function adoptStyle(root: ShadowRoot, address: string): Promise<void> {
  const known = adopted.get(root) ?? new Set();
  adopted.set(root, known);
  if (known.has(address)) return;
  known.add(address);
  root.adoptedStyleSheets.push(await loadStyle(address));
}
