import { pathToFileURL } from 'node:url';
import { codePages, longPages, shortPages } from './render-corpus.ts';

/**
 * Measures how long pages take to render, per file and in all. With the path of another checkout's
 * src/markdown/render.ts, both are measured in turns in one run, because timings of different runs are not comparable
 * on a shared machine.
 */
type Render = (markdown: string) => { html: string };

const ROUNDS = 7;

const [, , other] = process.argv;
const renderers: Record<string, Render> = {
  ...(other !== undefined && { other: (await import(pathToFileURL(other).href)).renderMarkdown as Render }),
  here: (await import('../src/markdown/render.ts')).renderMarkdown,
};

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

for (const [name, texts] of Object.entries({ ...shortPages(), ...longPages(), ...codePages() })) {
  const times = new Map(Object.keys(renderers).map((key) => [key, texts.map(() => [] as number[])]));
  for (let round = -2; round < ROUNDS; round += 1) {
    for (const [i, text] of texts.entries()) {
      for (const [key, render] of Object.entries(renderers)) {
        const started = performance.now();
        render(text);
        // The first rounds only warm up.
        if (round >= 0) times.get(key)?.[i]?.push(performance.now() - started);
      }
    }
  }
  for (const [key, all] of times) {
    const files = all.map(median);
    const total = files.reduce((sum, ms) => sum + ms, 0);
    console.log(
      `${name.padEnd(22)} ${key.padEnd(6)} ${String(texts.length).padStart(4)} files  ` +
        `median ${median(files).toFixed(3)} ms a file, ${total.toFixed(0).padStart(5)} ms for all`,
    );
  }
}
