import katex from 'katex';
import 'katex/dist/katex.min.css';
import { onPage } from './on-page.ts';

/** Renders the formulas of an element. A formula that KaTeX cannot parse keeps its source. */
export function drawMath(root: ParentNode): void {
  for (const code of root.querySelectorAll<HTMLElement>('code.math-inline, code.math-display')) {
    const drawn = document.createElement('span');
    try {
      katex.render(code.textContent ?? '', drawn, {
        displayMode: code.classList.contains('math-display'),
        trust: false,
        maxSize: 50,
        maxExpand: 1_000,
        strict: 'ignore',
      });
    } catch (error) {
      code.title = (error as Error).message;
      continue;
    }
    const pre = code.closest('pre.math');
    if (pre) {
      const block = document.createElement('div');
      block.className = 'math';
      block.append(drawn);
      pre.replaceWith(block);
    } else code.replaceWith(drawn);
  }
}

onPage(() => drawMath(document));
