const CLASS = 'is-focused-on-text';

/** Shows the title, the tools and the text alone, or everything again. */
export function toggleFocusMode(): void {
  document.body.classList.toggle(CLASS);
}

export function isFocusMode(): boolean {
  return document.body.classList.contains(CLASS);
}
