import type { ElementContent } from 'hast';
import { common, createLowlight } from 'lowlight';

const languages = createLowlight(common);

/** Returns ranges of the code with the classes of highlight.js; an empty list for an unknown language. */
export function highlightCode(language: string, code: string): { from: number; to: number; className: string }[] {
  if (!languages.registered(language)) return [];
  const runs: { from: number; to: number; className: string }[] = [];
  let at = 0;
  const walk = (nodes: readonly ElementContent[]) => {
    for (const node of nodes) {
      if (node.type === 'text') at += node.value.length;
      if (node.type !== 'element') continue;
      const from = at;
      walk(node.children);
      const { className } = node.properties;
      if (at > from) runs.push({ from, to: at, className: Array.isArray(className) ? className.join(' ') : '' });
    }
  };
  walk(languages.highlight(language, code).children as ElementContent[]);
  return runs;
}
