import { TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import { oneLine, TITLE_MAX } from '@ibid/markdown/plain-text.ts';
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { collectPictures } from '../document-pictures.ts';
import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument, UploadedFile } from '../extracted.ts';
import { htmlToMarkdown } from '../html/html.ts';
import { type LossList, lossList } from '../loss-list.ts';
import { countCharacters } from '../losses.ts';
import { markdownWriter } from '../markdown-writer.ts';
import { textToMarkdown } from '../text/text.ts';

/** Limits of a message in bytes, of the nesting of messages, and of messages in total. */
const MESSAGE_MAX = 64 * 2 ** 20;
const DEPTH_MAX = 5;
const MESSAGES_MAX = 100;

/** Headers at the beginning of a line; a message needs at least one. */
const HEADER = /^(?:from|to|cc|subject|date|message-id|received|return-path|delivered-to|mime-version|content-type):/im;

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/i;

/** HTML with more structure than plain text: tables, lists, headings, links and pictures. */
const RICH = /<(?:table|[uo]l|h[1-6]|img|a\s[^<>]*href)[\s>]/i;

const writer = markdownWriter({ tablePipeAlign: false });

/**
 * Reads an e-mail message: sender, recipients and date, its text, nested messages and pictures. Other attachments are
 * named in the text and listed as losses. Throws an ExtractError.
 */
export async function readMessage({ bytes }: UploadedFile): Promise<ExtractedDocument> {
  if (bytes.length > MESSAGE_MAX) {
    const message = `the message is larger than ${MESSAGE_MAX / 2 ** 20} MiB; upload its attachments separately`;
    throw new ExtractError('too_large', message);
  }
  if (
    !HEADER.test(
      Buffer.from(bytes.subarray(0, 65_536))
        .toString('latin1')
        .split(/\r?\n\r?\n/, 1)[0] ?? '',
    )
  ) {
    throw new ExtractError('unreadable', 'the file has no e-mail headers; save the message again as .eml');
  }
  const { pictures, add } = collectPictures();
  const reading: Reading = { add, losses: lossList(), parts: [], file_characters: 0, left: MESSAGES_MAX };
  const title = await addMessage(bytes, 0, reading);
  return {
    kind: 'eml',
    markdown: `${reading.parts.filter((part) => part !== '').join('\n\n')}\n`,
    title,
    language: '',
    content_type: 'message/rfc822',
    pictures,
    losses: reading.losses.losses,
    file_characters: reading.file_characters,
  };
}

interface Reading {
  add(bytes: Buffer): string;
  losses: LossList;
  /** Blocks of Markdown. */
  parts: string[];
  file_characters: number;
  /** The number of messages that may still follow. */
  left: number;
}

/** Adds a message and its nested messages. Returns its subject. */
async function addMessage(bytes: Uint8Array, depth: number, reading: Reading): Promise<string> {
  const { parts, losses } = reading;
  reading.left -= 1;
  const email = await parsed(bytes);
  const subject = oneLine(email.subject ?? '', TITLE_MAX);
  if (depth > 0)
    parts.push(written([{ type: 'heading', depth: 2, children: [{ type: 'text', value: subject || 'Message' }] }]));
  parts.push(headersOf(email, reading));
  addText(email, reading);
  for (const file of email.attachments) {
    if (!/^message\/rfc822$/i.test(file.mimeType)) continue;
    if (depth >= DEPTH_MAX || reading.left <= 0) losses.addThing('embedded_object', nameOf(file));
    else await addMessage(bytesOf(file), depth + 1, reading);
  }
  return subject;
}

async function parsed(bytes: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { forceRfc822Attachments: true, maxNestingDepth: 50 });
  } catch {
    // The parser's messages are about limits of parts and headers, and not for users.
    throw new ExtractError('unreadable', 'the message is nested too deep or damaged; save it again as .eml or as PDF');
  }
}

type Blocks = Parameters<typeof writer.stringify>[0] extends { children: infer Children } ? Children : never;

function written(children: Blocks): string {
  return writer.stringify({ type: 'root', children }).trim();
}

/** Lists sender, recipients, date, subject and attachments. */
function headersOf(email: Email, reading: Reading): string {
  const { from, sender, to, cc, bcc, replyTo, headers, subject } = email;
  const files = email.attachments.filter((file) => !isShown(file));
  const rows: [name: string, value: string][] = [
    ['From', addresses(from ? [from] : sender ? [sender] : [])],
    ['To', addresses(to)],
    ['Cc', addresses(cc)],
    ['Bcc', addresses(bcc)],
    ['Reply-To', addresses(replyTo)],
    ['Date', headers.find(({ key }) => key === 'date')?.value ?? ''],
    ['Subject', subject ?? ''],
    ['Attachments', files.map(nameOf).join(', ')],
  ];
  const items = rows.flatMap(([name, said]) => {
    const value = said.replace(/\s+/g, ' ').trim();
    if (value === '') return [];
    if (name !== 'Attachments') reading.file_characters += countCharacters(value);
    return [{ name, value }];
  });
  return written([
    {
      type: 'list',
      spread: false,
      children: items.map(({ name, value }) => ({
        type: 'listItem',
        spread: false,
        children: [
          {
            type: 'paragraph',
            children: [
              { type: 'strong', children: [{ type: 'text', value: `${name}:` }] },
              { type: 'text', value: ` ${value}` },
            ],
          },
        ],
      })),
    },
  ]);
}

function addresses(list: readonly Address[] = []): string {
  return list
    .map(({ name, address, group }) => {
      if (group) return `${name}: ${addresses(group)};`;
      return name && address ? `${name} <${address}>` : name || (address ?? '');
    })
    .join(', ');
}

/** Adds the text of a message, then pictures that the text does not show. */
function addText(email: Email, reading: Reading): void {
  const { parts, losses } = reading;
  const { text = '', html = '', attachments } = email;
  const shown = new Set<Attachment>();
  const pictureAt = (address: string): string => {
    const id = /^cid:(.*)/is.exec(address)?.[1];
    const file = attachments.find(({ contentId }) => id !== undefined && contentId?.replace(/^<|>$/g, '') === id);
    if (!file || !PICTURE.test(file.mimeType)) return '';
    shown.add(file);
    return reading.add(bytesOf(file));
  };
  const rich = html !== '' && (RICH.test(html) || text.trim() === '') ? fromHtml(html, pictureAt, reading) : undefined;
  const content = rich ?? fromText(text, reading);
  const undecodable = content.match(/\ufffd/g)?.length ?? 0;
  if (undecodable > 0) losses.sum('decoding', '', undecodable);
  parts.push(content);
  for (const file of attachments) {
    if (shown.has(file) || isShown(file)) {
      if (shown.has(file) || !PICTURE.test(file.mimeType)) continue;
      const address = reading.add(bytesOf(file));
      const alt = oneLine(file.filename ?? '', TITLE_MAX);
      if (address === '') losses.addThing('picture', nameOf(file));
      else parts.push(written([{ type: 'paragraph', children: [{ type: 'image', url: address, alt }] }]));
    } else losses.addThing('embedded_object', nameOf(file));
  }
}

function fromHtml(html: string, pictureAt: (address: string) => string, reading: Reading): string | undefined {
  try {
    const { markdown, losses, file_characters } = htmlToMarkdown(html, {
      pictureAt,
      addPicture: reading.add,
      isData: false,
    });
    if (markdown.trim() === '') return undefined;
    reading.losses.losses.push(...losses);
    reading.file_characters += file_characters;
    return markdown.trim();
  } catch (error) {
    // Fall back to the plain text alternative.
    if (error instanceof TooComplexError) return undefined;
    throw error;
  }
}

function fromText(text: string, reading: Reading): string {
  reading.file_characters += countCharacters(text);
  return textToMarkdown(text.replace(/\r\n?/g, '\n')).markdown.trim();
}

/** Whether a page can show an attachment. */
function isShown({ mimeType }: Attachment): boolean {
  return PICTURE.test(mimeType) || /^message\/rfc822$/i.test(mimeType);
}

function nameOf({ filename, mimeType }: Attachment): string {
  return filename ? `${filename} (${mimeType})` : mimeType;
}

function bytesOf({ content }: Attachment): Buffer {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof ArrayBuffer
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}
