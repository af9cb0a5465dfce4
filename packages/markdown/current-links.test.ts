import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MovedLink, withCurrentLinks } from './page-links.ts';

/** A page with `places` links to missing pages; `links` of these pages exist by now. */
function pageOf(links: number, places: number) {
  const moved = Array.from({ length: links }, (_, i): MovedLink => {
    return { to_path: `[[Page number ${i}]]`, path: `pages/page-${i}`, places: [] };
  });
  const html = Array.from({ length: places }, (_, i) => {
    return `<p><a class="wiki missing" data-target="Page number ${i % 2_500}">Page number ${i}</a></p>`;
  }).join('\n');
  return { page: { path: 'start', markdown: '', html }, moved };
}

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

test('a link to a page that exists by now leads to it, and a link to a missing page stays unchanged', () => {
  const { page, moved } = pageOf(2_000, 5_000);
  const { html } = withCurrentLinks(page, '', moved);
  assert.equal(html.match(/<a class="wiki" href="pages\/page-\d+">/g)?.length, 4_000);
  assert.equal(html.match(/<a class="wiki missing" data-target="Page number 2\d{3}">/g)?.length, 1_000);
});

test('a page whose 2,000 links have moved is shown for little more than a page with two moved links', () => {
  const [few, many] = [pageOf(2, 20_000), pageOf(2_000, 20_000)];
  for (const { page } of [few, many]) page.html = page.html.replaceAll('number', 'of another name');
  const timeOf = ({ page, moved }: typeof few) =>
    Math.min(...[1, 2, 3].map(() => cpuOf(() => withCurrentLinks(page, '', moved))));
  timeOf(few);
  const ratio = timeOf(many) / timeOf(few);
  assert.ok(ratio < 4, `2,000 moved links take ${ratio.toFixed(1)} times as long as two`);
});
