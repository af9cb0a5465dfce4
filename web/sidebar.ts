import { type Html, html } from './html.ts';
import type { Visit } from './visit.ts';

/** Widths of the tree, in rem; styles/sidebar.css has a rule for each. */
const NARROWEST = 12;
const WIDEST = 28;
const DEFAULT = 17;

/** Returns the width in a cookie; the default for any invalid value. */
export function sidebarWidth(cookie = ''): number {
  const width = /^\d\d$/.test(cookie) ? Number(cookie) : DEFAULT;
  return width >= NARROWEST && width <= WIDEST ? width : DEFAULT;
}

/** Renders the separator that changes the width of the tree; see elements/organize/sidebar.ts. */
export function sidebarSeparator({ sidebarWidth: width }: Visit): Html {
  return html`<div class="sidebar-size needs-script" role="separator" tabindex="0" aria-orientation="vertical" aria-label="Sidebar width" aria-valuemin="${NARROWEST}" aria-valuemax="${WIDEST}" aria-valuenow="${width}"></div>`;
}
