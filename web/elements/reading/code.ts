import { copyText } from './copy.ts';

/** Adds a copy button and the name of the language to each block of code. */
export function addCodeButtons(prose: HTMLElement): void {
  for (const pre of prose.querySelectorAll<HTMLElement>('pre:not(.mermaid, .math)')) {
    const text = pre.textContent ?? '';
    if (text.trim() === '') continue;
    const [, language = ''] = /(?:^|\s)language-(\S+)/.exec(pre.querySelector('code')?.className ?? '') ?? [];
    const box = document.createElement('div');
    box.className = 'code-box';
    const bar = document.createElement('div');
    bar.className = 'code-bar';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.title = 'Copy this code';
    button.setAttribute('aria-label', language === '' ? 'Copy this code' : `Copy this ${language} code`);
    button.addEventListener('click', () => void copyText(button, text.replace(/\n$/, '')));
    if (language !== '') {
      const name = document.createElement('span');
      name.textContent = language;
      bar.append(name);
    }
    bar.append(button);
    pre.replaceWith(box);
    // Append the bar after the code, so that screen readers read it later and its words stay out of the code.
    box.append(pre, bar);
  }
}
