const CLASS = 'is-focused-on-text';

/** Toggles between showing everything and showing only the title, the tools and the text. */
export function toggleFocusMode(): void {
  document.body.classList.toggle(CLASS);
}

export function isFocusMode(): boolean {
  return document.body.classList.contains(CLASS);
}
