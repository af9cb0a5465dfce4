const KEYS: readonly [keys: string, does: string][] = [
  ['Enter, Shift+Enter', 'new paragraph, new line in it'],
  ['Ctrl+B', 'bold, or not any more'],
  ['Ctrl+I', 'italic'],
  ['Ctrl+Shift+X', 'strike through'],
  ['Ctrl+Shift+H', 'highlight'],
  ['Ctrl+K', 'link'],
  ['Ctrl+Alt+1 … 4', 'heading'],
  ['Ctrl+Shift+8, 7, 9', 'list, numbers, tasks'],
  ['Ctrl+Enter', 'tick the task'],
  ['/', 'insert: table, callout, picture, …'],
  ['[[', 'link to a page'],
  ['Alt+↑, Alt+↓', 'move the paragraph, or the lines of a list or of code'],
  ['Alt+Shift+↑, ↓', 'move the block: a paragraph, an item, a folded heading; or drag it'],
  ['Ctrl+F', 'find and replace'],
  ['Ctrl+Shift+[, ]', 'fold the heading, or unfold it'],
  ['Ctrl+D', 'select the next occurrence too'],
  ['Ctrl+E', 'Markdown as it is written'],
  ['Tab in a table', 'next cell; Ctrl+Enter a new row; Esc out of it'],
  [':name', 'emoji'],
  ['Ctrl+Alt+F', 'the text alone, or everything again'],
  ['Alt+F10', 'the tools for what is selected; Esc back to the text'],
  ['Ctrl+S', 'save'],
];

/** Shows the keyboard shortcuts of the editor in a dialog that Escape closes. */
export function showKeys(): boolean {
  const dialog = document.createElement('dialog');
  dialog.className = 'keys-dialog';
  dialog.setAttribute('aria-label', 'Keys of the editor');
  const head = document.createElement('header');
  const heading = document.createElement('h2');
  heading.textContent = 'Keys';
  const list = document.createElement('dl');
  for (const [keys, does] of KEYS) {
    const [term, words] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = keys;
    words.textContent = does;
    list.append(term, words);
  }
  const close = document.createElement('button');
  close.type = 'button';
  close.className = 'button';
  close.textContent = 'Close';
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  // The button comes first because it takes the focus; otherwise a narrow window would start at the end of the list.
  head.append(heading, close);
  dialog.append(head, list);
  document.body.append(dialog);
  dialog.showModal();
  return true;
}
