import { makeOneStop, moveInGroups } from './one-stop.ts';
import { scalePicture } from './upload/scale-picture.ts';

makeOneStop();
moveInGroups();
// In a narrow window the links appear only when the fold is opened.
document.querySelector('.sections-fold')?.addEventListener('toggle', makeOneStop);

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
      // The browser denied access to the clipboard: select the text, so that the user can copy it.
      getSelection()?.selectAllChildren(source);
      status.textContent = 'Press Ctrl+C to copy it.';
    }
  });
}

// The browser caches a logo for five minutes. After a change, the page and its bar show the new logo at once.
for (const { src } of document.querySelectorAll<HTMLImageElement>('img[data-fresh]')) {
  void fetch(src, { cache: 'reload' }).then(() => {
    for (const img of document.querySelectorAll<HTMLImageElement>('img.logo'))
      if (img.src === src) img.src = `${src}#fresh`;
  });
}

// Photos are larger than the limit for pictures of people. Without scripts, the form sends them unscaled.
for (const input of document.querySelectorAll<HTMLInputElement>('input[data-scaled]')) {
  let scaling: Promise<void> | undefined;
  const scale = async ([file]: FileList) => {
    if (!file) return;
    const scaled = await scalePicture(file);
    if (scaled === file || input.files?.[0] !== file) return;
    const list = new DataTransfer();
    list.items.add(new File([scaled], file.name, { type: scaled.type }));
    input.files = list.files;
  };
  input.addEventListener('change', () => {
    if (input.files) scaling = scale(input.files).finally(() => (scaling = undefined));
  });
  input.form?.addEventListener('submit', (event) => {
    if (!scaling) return;
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void scaling.then(() => form.requestSubmit(event.submitter));
  });
}
