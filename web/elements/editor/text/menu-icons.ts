import type { Completion } from '@codemirror/autocomplete';
import { isToolIcon, toolIcon } from '../tool-icons.ts';

/** Renders the icon of a menu entry before its name. The entry's type names the icon. */
export const menuIcons = {
  render: ({ type }: Completion): Node | null => (isToolIcon(type) ? toolIcon(type) : null),
  // CodeMirror puts its own icons at 20 and names at 50.
  position: 20,
};
