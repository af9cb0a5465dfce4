import assert from 'node:assert/strict';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Scrapes /metrics and returns the text. Asserts that the scrape succeeds. */
export async function scrapeText(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.equal(response.status, 200);
  assert.match(String(response.headers.get('content-type')), /^text\/plain; version=0\.0\.4/);
  return response.text();
}

export function samplesOf(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text]);
    return { name, labels: Object.fromEntries(pairs), value: Number(value) };
  });
}

export const scrape = async (port: number): Promise<Sample[]> => samplesOf(await scrapeText(port));

export function sampleOf(samples: Sample[], name: string, labels: Record<string, string>): number | undefined {
  const wanted = Object.entries(labels);
  return samples.find(
    (sample) => sample.name === name && wanted.every(([label, text]) => sample.labels[label] === text),
  )?.value;
}
