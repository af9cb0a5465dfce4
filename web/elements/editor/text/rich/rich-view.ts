import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { propertiesView } from '../properties/properties-view.ts';
import { blockWidgets, pictureAddress } from './blocks.ts';
import { codeColours } from './code-colours.ts';
import { richMarks } from './marks.ts';
import { paragraphKeys } from './paragraph-keys.ts';
import { joinedLines } from './soft-breaks.ts';

/**
 * Shows Markdown as rendered, with its marks only at the selection. It consists of decorations only: the document
 * remains the text of the page.
 */
export function richView(resolvePicture: (address: string) => string): Extension {
  return [
    richMarks(resolvePicture),
    pictureAddress.of(resolvePicture),
    blockWidgets,
    propertiesView,
    joinedLines,
    paragraphKeys,
    codeColours,
    EditorView.editorAttributes.of({ class: 'rich' }),
    openLinks,
  ];
}

/** Opens a link in a new tab on Ctrl+click. */
const openLinks = EditorView.domEventHandlers({
  mousedown(event, view) {
    if (!(event.ctrlKey || event.metaKey) || event.button !== 0) return false;
    const at = view.posAtCoords(event);
    const link = (event.target as Element).closest('.rich-link');
    if (at === null || !link) return false;
    view.dom.dispatchEvent(new CustomEvent('open-link', { detail: at, bubbles: true, composed: true }));
    event.preventDefault();
    return true;
  },
});
