// Shows the copy buttons, which need a script.
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy ?? '');
  const status = document.getElementById('copied');
  if (!source || !status) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(source.textContent ?? '');
      status.textContent = 'Copied.';
    } catch {
      // The browser denied access to the clipboard: selects the text, to be copied by hand.
      getSelection()?.selectAllChildren(source);
      status.textContent = 'It is selected now: copy it with Ctrl C.';
    }
  });
}
