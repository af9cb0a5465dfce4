export function define(name: string, element: CustomElementConstructor): void {
  // A page may load the module twice, even from two versions of the service; the first definition stays.
  if (!customElements.get(name)) customElements.define(name, element);
}
