import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { allProse, type Prose, proseRates } from './prose.ts';
import limits from './prose-limits.json' with { type: 'json' };

const ROOT = fileURLToPath(PACKAGE);
const textOf = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');
const linesOf = (text: string) => text.trimEnd().split('\n').length;

/** Hits per 10,000 words; well-written projects have 2 to 32. */
const OF_ALL = 15;
const OF_A_FOLDER = 30;
/** Deleting a good comment raises the rate of its folder a little. */
const MARGIN = 1;

const prose = allProse();
const rates = proseRates(prose);

function worstOf(folder: string): string {
  const worst = prose.filter(({ file, hits }) => hits.length > 0 && `${file}/`.startsWith(`${folder}/`));
  const line = ({ file, line, text, hits }: Prose) => `${file}:${line} ${hits.join(', ')}: ${text.slice(0, 160)}`;
  return worst.slice(0, 5).map(line).join('\n');
}

test('comments and documents are plain English', () => {
  assert.ok(prose.length > 5_000, 'they must be found');
  assert.ok(rates.all <= OF_ALL, `${rates.all} bad shapes per 10,000 words, ${OF_ALL} at most`);
  for (const [folder, rate] of Object.entries(rates.folders))
    assert.ok(rate <= OF_A_FOLDER, `${folder}: ${rate}, ${OF_A_FOLDER} at most\n${worstOf(folder)}`);
});

test('no folder gets worse', () => {
  for (const [folder, rate] of Object.entries(rates.folders)) {
    const limit = (limits as Record<string, number>)[folder] ?? OF_A_FOLDER;
    assert.ok(rate <= limit + MARGIN, `${folder}: ${rate}, it was ${limit}\n${worstOf(folder)}`);
  }
});

test('commit subjects name an area and say in at most 72 characters what it does now', () => {
  const subjects = execFileSync('git', ['log', '--no-merges', '--max-count=30', '--format=%s'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const subject of subjects.trim().split('\n')) {
    assert.ok(subject.length <= 72, `${subject.length} characters: ${subject}`);
    assert.match(subject, /^[a-z0-9. -]+(?:, [a-z0-9. -]+)*: [a-z`]/, 'area: what it does now');
    assert.doesNotMatch(subject, /^[^:]*: \w+(?:ed|ing) |\.$/, 'imperative, without a full stop');
  }
});

test('documents are as short as their readers need', () => {
  assert.ok(linesOf(textOf('README.md')) <= 120, 'README.md has at most 120 lines');
  const releases = textOf('CHANGELOG.md').split(/^## /m).slice(1);
  for (const release of releases) assert.ok(linesOf(release) <= 80, `at most 80 lines for ${release.split('\n')[0]}`);
  assert.ok(linesOf(textOf('docs/benchmarks.md')) <= 150, 'docs/benchmarks.md has at most 150 lines');
  for (const path of globSync('docs/decisions/[0-9]*.md', { cwd: ROOT })) {
    const text = textOf(path);
    assert.ok(text.split(/\s+/).length <= 400, `${path} has at most 400 words`);
    assert.match(
      text,
      /^# \d{3}: .+\n\n(?:Accepted|Replaced), \d{4}-\d{2}-\d{2}\.\n/,
      `${path} has a title, a status and a date`,
    );
  }
});
