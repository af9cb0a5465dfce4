/** A Docusaurus tag of tabs alone in its line: `<Tabs>`, `<TabItem value="npm" label="With npm">`, and their ends. */
export interface TabTag {
  name: 'Tabs' | 'TabItem';
  isEnd: boolean;
  indent: string;
  /** The label or value of the tab; "" if the tag has neither. */
  title: string;
}

/** Longer lines are treated as text. */
const LINE_MAX = 2_000;

const TAG = /^( *)<(\/?)(Tabs|TabItem)(?=[\s>])((?:[^<>"'{}]|"[^"]*"|'[^']*'|\{[^{}]*\})*)>[ \t\r]*$/;
const TITLE = /\slabel=(?:"([^"]*)"|'([^']*)'|\{\s*["'`]([^"'`{}]*)["'`]\s*\})/;
const VALUE = /\svalue=(?:"([^"]*)"|'([^']*)')/;

/** Parses a line that is a tag of tabs. Returns undefined for other lines. */
export function tabTagOf(line: string): TabTag | undefined {
  if (line.length > LINE_MAX || !line.includes('Tab')) return undefined;
  const [, indent = '', end, name, attributes = ''] = TAG.exec(line) ?? [];
  if (name === undefined || attributes.endsWith('/')) return undefined;
  const [, a, b, c] = TITLE.exec(attributes) ?? [];
  const [, d, e] = VALUE.exec(attributes) ?? [];
  return { name: name as TabTag['name'], isEnd: end === '/', indent, title: a ?? b ?? c ?? d ?? e ?? '' };
}
