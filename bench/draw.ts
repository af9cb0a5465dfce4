import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readBefore } from './units/results.ts';

/**
 * Draws what bench/results/ keeps: `units.svg`, each kind of request in selects of pgbench, in the newest run and the one before;
 * `growth.svg`, the CPU time of each request in large services as a multiple of that in a small one. Scales are logarithmic.
 */
const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));
const WIDTH = 900;
const NAMES = 250;
const ROW = 26;
const COLORS = ['#9ab', '#2563eb', '#d97706'];

interface Chart {
  title: string;
  /** What a bar of each row is, in the order of `values`. */
  series: string[];
  rows: { name: string; values: number[]; aim?: number }[];
}

const growth = `${RESULTS}growth.json`;
if (existsSync(growth))
  writeFileSync(`${RESULTS}growth.svg`, drawn(growthChart(JSON.parse(readFileSync(growth, 'utf8')))));
const units = unitsChart();
if (units) writeFileSync(`${RESULTS}units.svg`, drawn(units));

function unitsChart(): Chart | undefined {
  const now = readBefore('', 1);
  if (!now) return undefined;
  const before = readBefore('', 1, now.date);
  return {
    title: `CPU of a request in selects of pgbench, ${now.pages.toLocaleString('en')} pages; the line is the aim`,
    series: [...(before ? [before.date] : []), now.date],
    rows: now.rows.map(({ name, units, aim }) => {
      const old = before?.rows.find((row) => row.name === name);
      return { name, values: [...(before ? [old?.units ?? 0] : []), units], aim };
    }),
  };
}

/** As `npm run bench:growth -- --json` writes it: CPU in ms of Node and of PostgreSQL, the small service first. */
function growthChart(written: {
  sizes: Record<string, unknown>;
  rows: { name: string; cpu: [number, number][] }[];
}): Chart {
  const total = ([node, postgres]: [number, number]) => node + postgres;
  return {
    title: 'CPU of a request in a large service, as a multiple of that in a small one; the line is the aim of 1.2',
    series: Object.keys(written.sizes).slice(1),
    rows: written.rows.map(({ name, cpu: [small = [1, 0], ...large] }) => ({
      name,
      values: large.map((each) => total(each) / total(small)),
      aim: 1.2,
    })),
  };
}

function drawn({ title, series, rows }: Chart): string {
  const all = rows.flatMap(({ values, aim = 1 }) => [...values, aim]).filter((value) => value > 0);
  const least = Math.min(...all) / 1.5;
  const most = Math.max(...all) * 1.3;
  const x = (value: number) =>
    (NAMES + ((WIDTH - NAMES) * Math.log(value / least)) / Math.log(most / least)).toFixed(1);
  const bars = rows.flatMap(({ name, values, aim }, row) => {
    const top = 50 + row * ROW;
    const height = (ROW - 6) / values.length;
    return [
      `<text x="${NAMES - 8}" y="${top + 14}" text-anchor="end">${name}</text>`,
      ...values
        .filter((value) => value > 0)
        .map((value, i) => {
          const y = top + i * height;
          return `<rect x="${NAMES}" y="${y}" width="${Number(x(value)) - NAMES}" height="${height - 1}" fill="${COLORS[i]}"/><text x="${Number(x(value)) + 4}" y="${y + height / 2 + 3}" font-size="${Math.min(11, height)}">${value < 10 ? value.toFixed(2) : value.toFixed(0)}</text>`;
        }),
      ...(aim === undefined ? [] : [`<path d="M${x(aim)} ${top - 2}v${ROW - 4}" stroke="#b91c1c" stroke-width="2"/>`]),
    ];
  });
  const legend = series.map(
    (name, i) =>
      `<rect x="${NAMES + i * 150}" y="26" width="12" height="12" fill="${COLORS[i]}"/><text x="${NAMES + 18 + i * 150}" y="36">${name}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH + 50} ${60 + rows.length * ROW}" font-family="sans-serif" font-size="13">
<title>${title}</title>
<rect width="100%" height="100%" fill="white"/>
<text x="8" y="16" font-weight="bold">${title}</text>
${[...legend, ...bars].join('\n')}
</svg>
`;
}
