import { syntaxTree } from '@codemirror/language';
import type { EditorView } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { callApi, errorMessage } from '../call-api.ts';
import { toMarkdown } from '../lazy-modules.ts';
import { smallerPicture } from './smaller-picture.ts';
import { askForAlt } from './text/alt-text.ts';
import { insertLink } from './text/commands.ts';

/** The page that pasted and dropped files are attached to. */
export interface AttachmentTarget {
  /** Returns the API path of the page's attachments. Creates a new page first if needed. Throws Error. */
  attachmentsUrl(): Promise<string>;
  showStatus(words: string): void;
  /** The API path and the address of the wiki. */
  api: string;
  root: string;
}

/** HTML with formatting worth converting. Other clipboard content is pasted as plain text. */
const RICH =
  /<(?:h[1-6]|ul|ol|li|table|a|strong|b|em|i|blockquote|pre|img|code|s|del)[\s>]|(?:font-weight:\s*(?:bold|[6-9]00)|font-style:\s*italic|line-through|white-space:\s*pre;|mso-list:)/i;

/** Pastes files as attachments and rich text as Markdown. Returns whether the event was handled. */
export function handlePaste(view: EditorView, event: ClipboardEvent, target: AttachmentTarget): boolean {
  const data = event.clipboardData;
  if (attachDroppedFiles(view, data, event, target)) return true;
  const address = data?.getData('text/plain').trim() ?? '';
  if (pasteAddress(view, address, target)) {
    event.preventDefault();
    return true;
  }
  const rich = data?.getData('text/html') ?? '';
  if (!RICH.test(rich) || isInCode(view)) return false;
  event.preventDefault();
  void insertRich(view, rich, data?.getData('text/plain') ?? '');
  return true;
}

/** Returns whether the selection begins in code, where content is pasted as plain text. */
function isInCode({ state }: EditorView): boolean {
  const { from } = state.selection.main;
  for (let node: SyntaxNode | null = syntaxTree(state).resolveInner(from, -1); node; node = node.parent)
    if (/^(?:FencedCode|CodeBlock|InlineCode)$/.test(node.name)) return node.from < from && from < node.to;
  return false;
}

/**
 * Pastes an address. Selected words are linked to it, and an address of a page of this wiki becomes a link with the
 * page's title.
 */
function pasteAddress(view: EditorView, address: string, { api, root }: AttachmentTarget): boolean {
  if (!/^https?:\/\/\S+$/.test(address)) return false;
  const { main } = view.state.selection;
  const words = view.state.sliceDoc(main.from, main.to);
  if (!main.empty) return !words.includes('\n') && !/^https?:/.test(words) && insertLink(view, address);
  const page = `${location.origin}${root}/`;
  if (!address.startsWith(page) || address.startsWith(`${page}-/`)) return false;
  void insertTitledLink(view, address, `${api}/pages/path/${address.slice(page.length).replace(/[?#].*$/, '')}`);
  return true;
}

async function insertTitledLink(view: EditorView, address: string, path: string): Promise<void> {
  try {
    const { title } = await callApi<{ title: string }>('GET', path);
    insert(view, `[${title.replace(/[[\]\\]/g, '\\$&')}](${new URL(address).pathname}${new URL(address).hash})`);
  } catch {
    // The page does not exist or is not visible to this user: insert the address as copied.
    insert(view, address);
  }
}

/** Attaches dropped files and links them at the drop position. Returns whether the event was handled. */
export function handleDrop(view: EditorView, event: DragEvent, target: AttachmentTarget): boolean {
  const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
  if (event.dataTransfer?.files.length && at !== null) view.dispatch({ selection: { anchor: at } });
  return attachDroppedFiles(view, event.dataTransfer, event, target);
}

function attachDroppedFiles(
  view: EditorView,
  data: DataTransfer | null,
  event: Event,
  target: AttachmentTarget,
): boolean {
  const files = [...(data?.files ?? [])];
  if (files.length === 0) return false;
  event.preventDefault();
  // Outside the editor, ibid-drop treats dropped files as an upload.
  event.stopPropagation();
  void attachFiles(view, files, target);
  return true;
}

async function insertRich(view: EditorView, rich: string, plain: string): Promise<void> {
  try {
    insert(view, await toMarkdown(rich));
  } catch {
    // Fall back to the plain text of the clipboard.
    insert(view, plain);
  }
}

function insert(view: EditorView, text: string): void {
  view.dispatch(view.state.replaceSelection(text), { scrollIntoView: true });
  view.focus();
}

/** Attaches files and links them at the cursor. */
export async function attachFiles(
  view: EditorView,
  files: readonly File[],
  { attachmentsUrl, showStatus }: AttachmentTarget,
): Promise<void> {
  const before = view.state.doc;
  const notes: string[] = [];
  for (const chosen of files) {
    showStatus(`Attaching ${chosen.name}…`);
    try {
      const { file, note } = await smallerPicture(chosen);
      if (note) notes.push(note);
      const form = new FormData();
      form.append('files', file, file.name || 'picture.png');
      const made = await callApi<{ attachment_id: string; filename: string; content_type: string }>(
        'POST',
        await attachmentsUrl(),
        form,
      );
      const name = made.filename.replace(/[[\]\\]/g, ' ');
      const address = `attachment:${made.attachment_id}`;
      const isPicture = made.content_type.startsWith('image/');
      const isAlone = files.length === 1 && view.state.doc.eq(before);
      const from = view.state.selection.main.from;
      insert(view, `${isPicture ? '!' : ''}[${name}](${address})\n`);
      // Leave the caret alone if the user kept typing.
      if (isPicture) askForAlt(view, { from: from + 2, to: from + 2 + name.length }, isAlone);
    } catch (error) {
      return showStatus(`Could not attach ${chosen.name}: ${errorMessage(error)}`);
    }
  }
  showStatus(notes.join(' '));
}
