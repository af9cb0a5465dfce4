import { announce } from './reading/copy.ts';

// Copies the address of a page.
document.addEventListener('click', async (event) => {
  const button = (event.target as Element).closest<HTMLElement>('[data-copy-link]');
  if (!button) return;
  const address = new URL(button.dataset.copyLink ?? '', location.href).href;
  // A second press comes while it says that it was copied.
  button.dataset.words ??= button.textContent ?? '';
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = 'Copied';
    announce('Copied');
  } catch {
    // Over plain http a script may not write to the clipboard.
    prompt('The link of this page', address);
  }
  setTimeout(() => (button.textContent = button.dataset.words ?? ''), 1_500);
});

// A field that is only there to be copied from is selected as soon as it has the focus.
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLInputElement && target.readOnly) target.select();
});
