import { burn, type Entry } from '@kenjiuno/msgreader/lib/Burner.js';

/** Entry types of a compound file. */
const [DIRECTORY, DOCUMENT, ROOT] = [1, 2, 5];

export interface OutlookMessage {
  /** Texts by property number, such as `0037` for the subject. */
  texts: Readonly<Record<string, string | Uint8Array>>;
  recipients?: readonly Readonly<Record<string, string | Uint8Array>>[];
  attachments?: readonly Readonly<Record<string, string | Uint8Array>>[];
}

export function outlookOf({ texts, recipients = [], attachments = [] }: OutlookMessage): Buffer {
  const entries: Entry[] = [{ name: 'Root Entry', type: ROOT, children: [], length: 0 }];
  const add = (parent: Entry, name: string, content?: Uint8Array): Entry => {
    // Copied: the library reads the whole buffer underlying a view.
    const entry: Entry = content
      ? { name, type: DOCUMENT, length: content.length, binaryProvider: () => new Uint8Array(content) }
      : { name, type: DIRECTORY, length: 0, children: [] };
    parent.children?.push(entries.length);
    entries.push(entry);
    return entry;
  };
  const addAll = (
    parent: Entry,
    properties: Readonly<Record<string, string | Uint8Array>>,
    header: number,
    fixed: Uint8Array[] = [],
  ) => {
    add(parent, '__properties_version1.0', Buffer.concat([Buffer.alloc(header), ...fixed]));
    for (const [number, value] of Object.entries(properties)) {
      const [type, bytes] = typeof value === 'string' ? ['001F', Buffer.from(value, 'utf16le')] : ['0102', value];
      add(parent, `__substg1.0_${number}${type}`, bytes as Uint8Array);
    }
  };
  const [root] = entries as [Entry];
  addAll(root, texts, 32);
  for (const [i, each] of recipients.entries())
    addAll(add(root, `__recip_version1.0_#${String(i).padStart(8, '0')}`), each, 8, [recipientType(1)]);
  for (const [i, each] of attachments.entries())
    addAll(add(root, `__attach_version1.0_#${String(i).padStart(8, '0')}`), each, 8);
  return Buffer.from(burn(entries));
}

/** PidTagRecipientType: 1 is "to". */
function recipientType(value: number): Uint8Array {
  const property = Buffer.alloc(16);
  property.writeUInt32LE(0x0c150003, 0);
  property.writeUInt32LE(6, 4);
  property.writeUInt32LE(value, 8);
  return property;
}
