/** An emoji at the beginning of a title, followed by a space. */
const LEADING = /^(\p{RGI_Emoji}|\p{Extended_Pictographic}\ufe0f?)\s+/v;

/** Splits a title into its icon, the emoji at its beginning ("" without one), and the remaining name. */
export function splitTitle(title: string): { icon: string; name: string } {
  const [lead = '', icon = ''] = LEADING.exec(title) ?? [];
  const name = title.slice(lead.length);
  return name === '' ? { icon: '', name: title } : { icon, name };
}

/** Returns a title with another icon, or without an icon for "". */
export function withIcon(title: string, icon: string): string {
  const { name } = splitTitle(title);
  return icon === '' ? name : `${icon} ${name}`;
}
