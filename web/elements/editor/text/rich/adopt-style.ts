const adopted = new WeakMap<ShadowRoot, Set<string>>();

/** Adopts a style sheet in a shadow tree, into which the rules of the page do not reach; once, however often it is asked. */
export async function adoptStyle(root: ShadowRoot, address: string): Promise<void> {
  const known = adopted.get(root) ?? new Set();
  adopted.set(root, known);
  if (known.has(address)) return;
  known.add(address);
  const sheet = new CSSStyleSheet({ baseURL: address });
  root.adoptedStyleSheets.push(sheet);
  const reply = await fetch(address);
  if (reply.ok) await sheet.replace(await reply.text());
}
