import { copyText } from './copy.ts';

/**
 * Appends a link to each heading that copies the heading's address. The style sheet draws its mark, so that the
 * heading's text does not change.
 */
export function addHeadingLinks(prose: HTMLElement): void {
  for (const heading of prose.querySelectorAll<HTMLElement>(':is(h1, h2, h3, h4, h5, h6)[id]:not(.sr-only)')) {
    const words = (heading.textContent ?? '').trim();
    // Keep the heading's own words as its name, by which a screen reader lists headings.
    heading.ariaLabel = words;
    const link = document.createElement('a');
    link.className = 'heading-link';
    link.href = `#${encodeURIComponent(heading.id)}`;
    link.title = 'Copy the link to this heading';
    link.setAttribute('aria-label', `Copy the link to “${words}”`);
    // Do not prevent the default: following the link puts the address into the address bar.
    link.addEventListener('click', () => void copyText(link, link.href));
    heading.append(link);
  }
}
