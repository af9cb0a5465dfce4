const FOLDERS_MAX = 20;
const SEGMENT_BYTES = 255;
const FILENAME_CHARACTERS = 1_024;

/**
 * Normalizes the name of an uploaded file: folders separated by "/", without "..", drive letters, leading slashes and
 * control characters; percent-encoding is not decoded. If there are too many folders or the name is too long, the end
 * is kept.
 */
export function cleanFilename(filename: string): string {
  const segments = filename
    .slice(-FILENAME_CHARACTERS)
    .toWellFormed()
    .replaceAll('\\', '/')
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .replace(/^[a-zA-Z]:/, '')
    .split('/')
    .map((segment) => segment.trim())
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..')
    .map(cutSegment);
  return segments.slice(-(FOLDERS_MAX + 1)).join('/') || 'file';
}

/** Returns a Content-Disposition header (RFC 6266): the name in ASCII, and in `filename*` (RFC 8187) if it differs. */
export function contentDisposition(kind: 'inline' | 'attachment', filename: string): string {
  // Browsers disagree about quotes, backslashes and percent signs in `filename`.
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  if (ascii === filename) return `${kind}; filename="${ascii}"`;
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

function cutSegment(segment: string): string {
  if (Buffer.byteLength(segment) <= SEGMENT_BYTES) return segment;
  const extension = /\.[^.]{1,16}$/.exec(segment)?.[0] ?? '';
  let name = segment.slice(0, segment.length - extension.length);
  while (Buffer.byteLength(name + extension) > SEGMENT_BYTES) name = name.slice(0, -1);
  return (name + extension).toWellFormed();
}
