import { type Content, type Html, html } from './html.ts';
import { icon } from './icons.ts';

/** The links of the settings: beside the text; on a narrow window folded into one row above it, so that the text comes first. */
export function sectionLinks(name: string, lists: Content): Html {
  return html`<nav class="sections" aria-label="${name}"><details class="sections-fold"><summary>${icon('menu')} ${name}</summary>${lists}</details></nav>`;
}
