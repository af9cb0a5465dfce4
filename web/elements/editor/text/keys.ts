const KEYS: readonly [keys: string, does: string][] = [
  ['Enter, Shift+Enter', 'new paragraph, line break'],
  ['Ctrl+B', 'bold'],
  ['Ctrl+I', 'italic'],
  ['Ctrl+Shift+X', 'strikethrough'],
  ['Ctrl+Shift+H', 'highlight'],
  ['Ctrl+K', 'link'],
  ['Ctrl+Alt+1 … 4', 'heading'],
  ['Ctrl+Shift+8, 7, 9', 'bulleted list, numbered list, task list'],
  ['Ctrl+Enter', 'tick or untick a task'],
  ['/', 'insert a table, a callout, a picture, …'],
  ['[[', 'link to a page'],
  ['Alt+↑, Alt+↓', 'move the paragraph, or the lines of a list or code block'],
  ['Alt+Shift+↑, ↓', 'move the block (paragraph, list item or folded section), or drag it'],
  ['Ctrl+F', 'find and replace'],
  ['Ctrl+Shift+[, ]', 'fold the section, unfold it'],
  ['Ctrl+D', 'add the next occurrence to the selection'],
  ['Ctrl+E', 'show or hide the Markdown source'],
  ['Tab in a table', 'next cell; Ctrl+Enter adds a row, Esc leaves the table'],
  [':name', 'emoji'],
  ['Ctrl+Alt+F', 'turn focus mode on or off'],
  ['Alt+F10', 'go to the tools for the selection; Esc returns to the text'],
  ['Ctrl+S', 'save'],
];

/** Shows the keyboard shortcuts of the editor in a dialog that Escape closes. */
export function showKeys(): boolean {
  const dialog = document.createElement('dialog');
  dialog.className = 'keys-dialog';
  dialog.setAttribute('aria-label', 'Keyboard shortcuts of the editor');
  const head = document.createElement('header');
  const heading = document.createElement('h2');
  heading.textContent = 'Keyboard shortcuts';
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
