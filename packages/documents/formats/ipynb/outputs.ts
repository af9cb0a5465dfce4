import { TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import { fencedCode } from '../fenced-code.ts';
import { htmlToMarkdown } from '../html/html.ts';
import type { LossList } from '../loss-list.ts';
import { type Json, type Output, textOf } from './notebook-cells.ts';

/** Pictures that browsers show. An output in several of these types is read as the first. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const SIGNATURES = ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff', 'GIF8', 'RIFF'];

/** Jupyter widgets. Their text is only a description: "HBox(children=(…))". */
const WIDGET = 'application/vnd.jupyter.widget-view+json';

/** Converts the outputs of a cell to blocks of Markdown. Adds outputs that Markdown cannot show to the losses. */
export function showOutputs(outputs: readonly Output[], add: (bytes: Buffer) => string, losses: LossList): string[] {
  const shown: string[] = [];
  let stream = '';
  const endStream = () => {
    if (stream.trim() !== '') shown.push(fencedCode(terminalText(stream)));
    stream = '';
  };
  for (const output of outputs) {
    // Programs write a stream in pieces; consecutive pieces become one block.
    if (output.type === 'stream') {
      stream += output.text;
      continue;
    }
    endStream();
    if (output.type === 'error') shown.push(fencedCode(terminalText(output.text)));
    else shown.push(showData(output.data, add, losses));
  }
  endStream();
  return shown;
}

/** Returns the bytes of the first picture that browsers show; undefined if the output has no such picture. */
export function pictureOf(data: Json): Buffer | undefined {
  for (const type of PICTURES) {
    const bytes = Buffer.from(textOf(data[type]), 'base64');
    const start = bytes.toString('latin1', 0, 8);
    if (SIGNATURES.some((signature) => start.startsWith(signature))) return bytes;
  }
  return undefined;
}

/** Picks the best form of an output: a picture, then a table, formatted text, plain text. */
function showData(data: Json, add: (bytes: Buffer) => string, losses: LossList): string {
  const text = terminalText(textOf(data['text/plain']));
  const picture = pictureOf(data);
  const address = picture && add(picture);
  if (address)
    return `![${text
      .replace(/[\s\\[\]<>`*_]+/g, ' ')
      .trim()
      .slice(0, 200)}](${address})`;
  const isPicture = Object.keys(data).some((type) => type.startsWith('image/'));
  if (isPicture) losses.addThing('picture', text);
  if (data[WIDGET] !== undefined) {
    losses.addThing('embedded_object', `widget ${text}`);
    return '';
  }
  const html = textOf(data['text/html']);
  if (html !== '' && (/<table[\s>]/i.test(html) || text.trim() === '')) {
    const shown = showHtml(html, add, losses);
    if (shown !== '') return shown;
  }
  const markdown = textOf(data['text/markdown']);
  if (markdown.trim() !== '') return markdown.trim();
  const tex = /^\s*\$\$?([^$]+)\$\$?\s*$/.exec(textOf(data['text/latex']))?.[1];
  if (tex !== undefined)
    return `$$\n${tex
      .replace(/^\s*\\displaystyle\b/, '')
      .replace(/\s+/g, ' ')
      .trim()}\n$$`;
  if (text.trim() !== '') return fencedCode(text);
  const types = Object.keys(data);
  if (!isPicture && types.length > 0) losses.addThing('embedded_object', types.join(', '));
  return '';
}

function showHtml(html: string, addPicture: (bytes: Buffer) => string, losses: LossList): string {
  try {
    const { markdown, losses: lost } = htmlToMarkdown(`<body>${html}</body>`, {
      isData: true,
      addPicture,
    });
    for (const { kind, excerpt } of lost) losses.addThing(kind, excerpt);
    return markdown.trim();
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error;
    losses.addThing('embedded_object', 'text/html');
    return '';
  }
}

/** Renders terminal output as text: drops colours, and after carriage returns keeps the last state of a line. */
function terminalText(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal reads.
      .replace(/\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, '')
      .replace(/^.*\r(?=[^\n\r])/gm, '')
      .replace(/\r/g, '')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: no database takes them.
      .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '')
  );
}
