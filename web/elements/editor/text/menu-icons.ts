import type { Completion } from '@codemirror/autocomplete';
import { isToolIcon, toolIcon } from '../tool-icons.ts';

/** The icon of an entry of a menu, before its name: the one that its type names. */
export const menuIcons = {
  render: ({ type }: Completion): Node | null => (isToolIcon(type) ? toolIcon(type) : null),
  // CodeMirror has its own at 20, and names at 50.
  position: 20,
};
