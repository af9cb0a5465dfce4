import { createHash } from 'node:crypto';

const HUES = 24;

/**
 * Draws the default logo: the first letter of the workspace name, in white on a colour whose hue is derived from the
 * id. At this lightness every hue has a contrast of at least 5:1 with white.
 */
export function letterMark(workspace_id: string, name: string) {
  const hue = (createHash('sha256').update(workspace_id).digest().readUInt8() % HUES) * (360 / HUES);
  const letter = (/\p{L}\p{M}*|\p{N}/u.exec(name)?.[0] ?? '').toLocaleUpperCase('und');
  const content = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">' +
      `<rect width="64" height="64" rx="14" fill="hsl(${hue} 45% 28%)"/>` +
      '<text x="32" y="33" text-anchor="middle" dominant-baseline="central" fill="#fff" font-family="system-ui, sans-serif" ' +
      `font-size="34" font-weight="600">${letter}</text></svg>`,
  );
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { sha256, byte_size: content.length, content_type: 'image/svg+xml', content };
}
