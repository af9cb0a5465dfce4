import { fromApi, type Html, html } from './html.ts';

/** On a grid of 16 by 16, in the current text colour. */
const PATHS = {
  search: '<circle cx="7" cy="7" r="4.5"/><path d="M10.5 10.5 14 14"/>',
  plus: '<path d="M8 3v10M3 8h10"/>',
  upload: '<path d="M8 10.5V2.5M4.5 5.5 8 2l3.5 3.5M2.5 10v3.5h11V10"/>',
  edit: '<path d="m10.5 2.5 3 3L6 13l-3.5.5L3 10z"/>',
  history: '<path d="M2.5 8A5.5 5.5 0 1 0 4.3 3.9L2.5 5.5M2.5 2.5v3h3M8 5v3.2l2.2 1.3"/>',
  menu: '<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>',
  outline: '<path d="M2.5 4h11M5.5 8h8M5.5 12h8M2.5 8h.01M2.5 12h.01"/>',
  chevron: '<path d="m6 4 4 4-4 4"/>',
  page: '<path d="M4 2h5l3 3v9H4zM9 2v3h3"/>',
  pages: '<path d="M2.5 5.5h4l1-2h6v9h-11z"/>',
  trash: '<path d="M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.5 9h6l.5-9"/>',
  theme: '<circle cx="8" cy="8" r="5.5"/><path d="M8 2.5v11a5.5 5.5 0 0 0 0-11z" fill="currentColor"/>',
  source: '<path d="M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2"/>',
  more: '<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" stroke-width="2.2"/>',
  star: '<path d="m8 2 1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z"/>',
  link: '<path d="M6.5 9.5 9.5 6.5M7 4.5l1-1a3 3 0 0 1 4.2 4.2l-1 1M9 11.5l-1 1a3 3 0 0 1-4.2-4.2l1-1"/>',
  unlink: '<path d="M7 4.5l1-1a3 3 0 0 1 4.2 4.2l-1 1M9 11.5l-1 1a3 3 0 0 1-4.2-4.2l1-1M4.5 4.5 3 3M11.5 11.5 13 13"/>',
  missing: '<path d="M4 2h5l3 3v9H4zM6.3 7.3l3.4 3.4M9.7 7.3l-3.4 3.4"/>',
  play: '<path d="M5 3v10l8-5z" fill="currentColor"/>',
  shapes:
    '<rect x="2.5" y="2.5" width="5.5" height="5.5" rx="1"/><circle cx="11" cy="11" r="2.8"/><path d="M8 5.2h3v3M5.2 8v3h3"/>',
  code: '<path d="m5.5 5-3 3 3 3M10.5 5l3 3-3 3"/>',
} as const;

export function icon(name: keyof typeof PATHS): Html {
  return html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${fromApi(PATHS[name])}</svg>`;
}
