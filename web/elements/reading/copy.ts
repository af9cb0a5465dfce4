/** Copies a text and shows on the button for a moment whether the browser allowed it. */
export async function copyText(button: HTMLElement, text: string): Promise<void> {
  const { title } = button;
  let said = 'Copied';
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    said = 'The browser blocked copying';
  }
  button.title = said;
  button.classList.add('copied');
  announce(said);
  setTimeout(() => {
    button.title = title;
    button.classList.remove('copied');
  }, 1_500);
}

let status: HTMLElement | undefined;

/** Makes screen readers announce a text. */
export function announce(words: string): void {
  if (!status) {
    status = document.createElement('p');
    status.className = 'sr-only';
    status.setAttribute('role', 'status');
    document.body.append(status);
  }
  status.textContent = words;
}
