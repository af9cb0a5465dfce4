import { copyText } from './copy.ts';

/** A link to each heading, behind its words: it copies its address. Its mark is drawn by the style sheet, so it is no text. */
export function addHeadingLinks(prose: HTMLElement): void {
  for (const heading of prose.querySelectorAll<HTMLElement>(':is(h1, h2, h3, h4, h5, h6)[id]:not(.sr-only)')) {
    const words = (heading.textContent ?? '').trim();
    // Its name stays that of its words, by which a screen reader lists headings.
    heading.ariaLabel = words;
    const link = document.createElement('a');
    link.className = 'heading-link';
    link.href = `#${encodeURIComponent(heading.id)}`;
    link.title = 'Copy the link to this heading';
    link.setAttribute('aria-label', `Copy the link to “${words}”`);
    // The address changes as with any link, so the click does what it says.
    link.addEventListener('click', () => void copyText(link, link.href));
    heading.append(link);
  }
}
