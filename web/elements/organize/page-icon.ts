/** An emoji at the beginning of a title, and a space. */
const LEADING = /^(\p{RGI_Emoji}|\p{Extended_Pictographic}\ufe0f?)\s+/v;

/** The icon of a page is the emoji that its title begins with; "" if it has none. `name` is the title without it. */
export function splitTitle(title: string): { icon: string; name: string } {
  const [lead = '', icon = ''] = LEADING.exec(title) ?? [];
  const name = title.slice(lead.length);
  return name === '' ? { icon: '', name: title } : { icon, name };
}

/** A title with another icon, or with none for "". */
export function withIcon(title: string, icon: string): string {
  const { name } = splitTitle(title);
  return icon === '' ? name : `${icon} ${name}`;
}
