// Buttons that copy what stands beside them are there where a script runs.
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
      // The browser does not let us: what is selected can be copied by hand.
      getSelection()?.selectAllChildren(source);
      status.textContent = 'It is selected now: copy it with Ctrl C.';
    }
  });
}
