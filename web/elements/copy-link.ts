import { announce } from './reading/copy.ts';

// Copies the address of a page.
document.addEventListener('click', async (event) => {
  const button = (event.target as Element).closest<HTMLElement>('[data-copy-link]');
  if (!button) return;
  const address = new URL(button.dataset.copyLink ?? '', location.href).href;
  // A second press may come while the button shows “Copied”.
  button.dataset.words ??= button.textContent ?? '';
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = 'Copied';
    announce('Copied');
  } catch {
    // Over plain HTTP a script may not write to the clipboard.
    prompt('Link to this page', address);
  }
  setTimeout(() => (button.textContent = button.dataset.words ?? ''), 1_500);
});

// Selects the content of a read-only field on focus, because such fields are for copying.
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLInputElement && target.readOnly) target.select();
});
