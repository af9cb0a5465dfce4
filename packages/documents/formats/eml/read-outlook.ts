import msgreader, { type FieldsData } from '@kenjiuno/msgreader';
import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument, UploadedFile } from '../extracted.ts';
import { decodeBytes } from '../office/rtf-text.ts';
import { unreadableFile } from '../unreadable.ts';
import { readMessage } from './read-message.ts';

type Reader = InstanceType<typeof msgreader.default>;

const DEPTH_MAX = 5;

/** The line length of a base64 part. */
const LINE = 76;

/** Reads an Outlook message as an e-mail: headers, text, nested messages and pictures. Throws an ExtractError. */
export async function readOutlook(file: UploadedFile): Promise<ExtractedDocument> {
  const { bytes } = file;
  const other = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(
    Buffer.from('__properties_version1.0', 'utf16le'),
  )
    ? undefined
    : unreadableFile(bytes);
  if (other) throw other;
  const message = mimeOf(bytes);
  const document = await readMessage({ ...file, bytes: message });
  return { ...document, kind: 'msg', content_type: 'application/vnd.ms-outlook' };
}

function mimeOf(bytes: Uint8Array): Buffer {
  try {
    const copy = new Uint8Array(bytes);
    const reader = new msgreader.default(copy.buffer);
    const fields = reader.getFileData();
    if (fields.error !== undefined || fields.dataType !== 'msg') throw new Error(fields.error);
    return Buffer.from(partOf(fields, reader, 0));
  } catch {
    // The library's errors are about the internals of the file, and not for users.
    throw new ExtractError(
      'unreadable',
      'the Outlook message is damaged; save it again as .msg or .eml and upload it again',
    );
  }
}

/** Writes the message as MIME with its attachments and nested messages. */
function partOf(fields: FieldsData, reader: Reader, depth: number): string {
  const { recipients = [], attachments = [] } = fields;
  const listOf = (type: FieldsData['recipType']) =>
    recipients
      .flatMap((each) => (each.recipType === type ? [address(each.name, each.smtpAddress ?? each.email)] : []))
      .join(', ');
  const headers: [name: string, value: string][] = [
    ['From', address(fields.senderName, fields.senderSmtpAddress ?? fields.senderEmail)],
    ['To', listOf('to')],
    ['Cc', listOf('cc')],
    ['Bcc', listOf('bcc')],
    ['Date', fields.clientSubmitTime ?? fields.messageDeliveryTime ?? fields.creationTime ?? ''],
    ['Subject', encoded(fields.subject ?? '')],
  ];
  const html = htmlOf(fields);
  const texts = [
    ...(fields.body?.trim() ? [textPart('text/plain', fields.body)] : []),
    ...(html.trim() === '' ? [] : [textPart('text/html', html)]),
  ];
  const files = attachments.flatMap((file) => attached(file, reader, depth));
  // The text exists in Rich Text Format only.
  if (texts.length === 0 && fields.compressedRtf)
    files.push(
      part(
        'application/rtf; name="message.rtf"',
        Buffer.alloc(0),
        'Content-Disposition: attachment; filename="message.rtf"\r\n',
      ),
    );
  const lines = headers.flatMap(([name, value]) =>
    value === '' ? [] : [`${name}: ${value.replace(/[\r\n]+/g, ' ')}\r\n`],
  );
  return `${lines.join('')}MIME-Version: 1.0\r\n${multipart(`mixed ${depth}`, [multipart(`alternative ${depth}`, texts), ...files])}`;
}

function attached(file: FieldsData, reader: Reader, depth: number): string[] {
  if (file.innerMsgContentFields && depth < DEPTH_MAX)
    return [`Content-Type: message/rfc822\r\n\r\n${partOf(file.innerMsgContentFields, reader, depth + 1)}`];
  const { fileName, content } = reader.getAttachment(file);
  const name = encoded(file.fileName ?? file.name ?? fileName ?? 'file');
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(file.attachMimeTag ?? '')
    ? file.attachMimeTag
    : typeByName(file.fileName ?? fileName ?? '');
  const id = file.pidContentId ? `Content-ID: <${file.pidContentId.replace(/[<>\r\n]/g, '')}>\r\n` : '';
  return [part(`${type}; name="${name}"`, content, `Content-Disposition: attachment; filename="${name}"\r\n${id}`)];
}

function typeByName(name: string): string {
  const extension = /\.(png|jpe?g|gif|webp)$/i.exec(name)?.[1]?.toLowerCase();
  return extension === undefined ? 'application/octet-stream' : `image/${extension === 'jpg' ? 'jpeg' : extension}`;
}

function htmlOf({ bodyHtml, html, internetCodepage }: FieldsData): string {
  if (bodyHtml) return bodyHtml;
  return html ? decodeBytes(Buffer.from(html).toString('latin1'), internetCodepage ?? 65_001) : '';
}

function address(name = '', email = ''): string {
  // Addresses within an organization are not e-mail addresses.
  const known = email.includes('@') ? email.replace(/[<>\r\n]/g, '') : '';
  const words = name === '' || name === known ? '' : encoded(name);
  if (known === '') return words === '' ? '' : `${words}:;`;
  return words === '' ? known : `${words} <${known}>`;
}

/** Encodes words of a header that are not ASCII or have a special meaning. */
function encoded(text: string): string {
  return /^[\w .-]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
}

function textPart(type: string, text: string): string {
  return part(`${type}; charset=utf-8`, Buffer.from(text), '');
}

function part(type: string, content: Uint8Array, more: string): string {
  const lines = Buffer.from(content)
    .toString('base64')
    .replace(new RegExp(`.{${LINE}}`, 'g'), '$&\r\n');
  return `Content-Type: ${type}\r\n${more}Content-Transfer-Encoding: base64\r\n\r\n${lines}\r\n`;
}

/** `kind` includes the depth of the message, so that nested parts have different boundaries. */
function multipart(kind: string, parts: readonly string[]): string {
  // Base64 lines never contain these characters.
  const boundary = `=_${kind.replace(' ', '_')}_=`;
  const own = parts.map((each) => `--${boundary}\r\n${each}\r\n`).join('');
  return `Content-Type: multipart/${kind.split(' ', 1)[0]}; boundary="${boundary}"\r\n\r\n${own}--${boundary}--\r\n`;
}
