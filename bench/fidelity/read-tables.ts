import { parseMarkdown } from '@ibid/markdown/parse-markdown.ts';
import type { Nodes } from 'mdast';
import type { Table } from './truth.ts';

export function readTables(markdown: string): Table[] {
  const tables: Table[] = [];
  const walk = (node: Nodes): void => {
    if (node.type === 'table')
      tables.push(node.children.map((row) => row.children.map((cell) => ({ text: textOf(cell) }))));
    else if ('children' in node) for (const child of node.children) walk(child);
  };
  walk(parseMarkdown(markdown));
  return tables;
}

function textOf(node: Nodes): string {
  if ('value' in node) return node.value;
  return 'children' in node ? node.children.map(textOf).join(' ') : '';
}
