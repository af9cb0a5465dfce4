import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { sha256 } from '../src/platform/core/secrets.ts';
import { sql } from '../src/platform/db/sql.ts';
import { formsOf } from '../test/fuzz/web-forms.ts';
import { signedInClient, signInLink } from '../test/signed-in.ts';
import { until } from '../test/until.ts';
import { type Answer, openWorld, waitForUpload } from '../test/world.ts';
import { ROUTES } from './routes.ts';

const world = await openWorld();
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>'&lt;`;

/** A browser of a user, without scripts: it keeps a cookie, accepts HTML and posts forms. */
async function browserOf(user_id: string) {
  const client = await signedInClient(world, user_id);
  const { body } = await client.post('/v1/auth/browser');
  const cookie = `ibid=${body.browser_secret}`;
  return {
    cookie,
    open: (path: string) => visit('GET', path, { cookie }),
    submit: (path: string, fields: Record<string, string>) =>
      visit('POST', path, { cookie, 'sec-fetch-site': 'same-origin' }, new URLSearchParams(fields)),
  };
}

function visit(method: string, path: string, headers: Record<string, string>, body?: URLSearchParams): Promise<Answer> {
  return world.anonymous.send(method, path, {
    headers: { accept: 'text/html', ...headers },
    redirect: 'manual',
    ...(body && { body }),
  });
}

const owner = await world.owner('mallory@example.com');
await world.db.query(sql`update users set display_name = ${HOSTILE} where user_id = ${owner.user_id}`);
const workspace = (await owner.post('/v1/workspaces', { name: HOSTILE.slice(0, 100), slug: 'hostile' })).body;
const wiki = (await owner.post(`/v1/workspaces/${workspace.workspace_id}/wikis`, { title: HOSTILE, slug: 'w' })).body;
// A second wiki, so that the workspace has its own home and each page a menu of wikis.
await owner.post(`/v1/workspaces/${workspace.workspace_id}/wikis`, { title: `${HOSTILE} too`, slug: 'other' });
const api = `/v1/wikis/${wiki.wiki_id}`;
const page = (
  await owner.post(`${api}/pages`, {
    title: HOSTILE,
    slug: 'page',
    markdown: `${HOSTILE}\n\n[[${HOSTILE}]] [[Nowhere & "co"]]`,
  })
).body;
const unsavedTexts = {
  'unsaved-new-page': { title: HOSTILE, markdown: '', parent_page_id: HOSTILE },
  'unsaved-changes': { title: HOSTILE, markdown: '', page_id: page.page_id },
};
for (const [id, text] of Object.entries(unsavedTexts)) {
  const headers = { 'content-type': 'application/json' };
  await owner.send('PUT', `${api}/autosaves/${id}`, { body: JSON.stringify(text), headers });
}
await owner.post(`${api}/pages`, {
  title: `${HOSTILE} below`,
  slug: 'below',
  parent_page_id: page.page_id,
  markdown: `---\ntags: [${JSON.stringify(HOSTILE)}]\nby: ${JSON.stringify(HOSTILE)}\n---\n[up](../page)`,
});
await owner.send('PUT', `${api}/templates/${page.page_id}`);
const upload = await world.upload(owner, wiki.wiki_id, {
  [`${HOSTILE.replaceAll('/', '')}.md`]: `# ${HOSTILE}\n\nword`,
});
const [source] = (await owner.get(`${api}/sources`)).body;
const compiled = (await owner.get(`${api}/pages`)).body.at(-1);
const me = await browserOf(owner.user_id);

const PAGES = [
  '',
  '/page',
  '/page/below',
  '/-/pages',
  '/-/pages/page',
  '/-/history/page',
  '/-/history/page?revision=1',
  '/-/history/page?from=1&to=1',
  `/-/search?query=${encodeURIComponent(HOSTILE)}`,
  '/-/search?query=word',
  '/page?sources',
  `/${compiled.path}`,
  `/${compiled.path}?sources`,
  '/-/sources',
  `/-/sources/${source.source_id}`,
  `/-/sources/${source.source_id}?start=2&end=9`,
  `/-/sources/${source.source_id}?start=90000000&end=900000000`,
  `/-/sources/${source.source_id}?start=9&end=2`,
  '/-/new',
  `/-/new?title=${encodeURIComponent(HOSTILE)}&parent=${page.page_id}`,
  `/-/new?template=${page.page_id}`,
  '/-/templates',
  '/-/edit/page',
  `/-/edit?page=${page.page_id}`,
  '/-/move/page',
  '/-/trash',
  '/-/gone',
  '/-/broken-links',
  '/-/tags',
  `/-/tags?tag=${encodeURIComponent(HOSTILE)}`,
  '/-/upload',
  '/-/upload?first',
  '/-/uploads',
  `/-/uploads/${upload.body.upload_id}`,
  `/${encodeURIComponent(HOSTILE.replaceAll('/', ''))}`,
].map((path) => `/hostile/w${path}`);

test('no page renders user text as markup, contains an inline script or an inline style', async () => {
  for (const path of [
    ...PAGES,
    '/hostile',
    '/welcome?token=%22%3E%3Cscript%3E',
    '/sign-in?token=%22%3E%3Cscript%3E&next=/%22%3E',
  ]) {
    const { status, headers, body } = await me.open(path);
    assert.ok([200, 303, 401, 404].includes(status), `${path}: ${status} ${body}`);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/, path);
    assert.match(policy, /media-src 'self' https: http:;/, path);
    assert.match(policy, /frame-ancestors 'none'/, path);
    // Inside quoted attributes these characters are harmless.
    const outside = String(body).replace(/="[^"]*"/g, '=""');
    assert.equal(/<img src=x|<script>|<[^>]*onerror/.exec(outside), null, `${path} contains user text as markup`);
    const own = /<style|<[^>]*\sstyle=|<script(?! type=""(?: async blocking="")? src=""><\/script>)/.exec(outside);
    assert.equal(own, null, `${path} holds a script or style in its text`);
  }
});

test('only the address of a listed service, alone in a paragraph, becomes a card, and only pages allow frames', async () => {
  const shown = [
    [
      'https://youtu.be/dQw4w9WgXcQ?t=90',
      'https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1&rel=0&start=90',
    ],
    [
      '<https://www.youtube.com/shorts/dQw4w9WgXcQ>',
      'https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1&rel=0',
    ],
    [
      'www.youtube.com/playlist?list=PL12',
      'https://www.youtube-nocookie.com/embed/videoseries?autoplay=1&rel=0&list=PL12',
    ],
    [
      '![A "film" & more](https://vimeo.com/76979871/abc123)',
      'https://player.vimeo.com/video/76979871?dnt=1&autoplay=1&h=abc123',
    ],
    [
      'https://www.loom.com/share/How-to-0281766fa2d04bb788eaf19e65135184',
      'https://www.loom.com/embed/0281766fa2d04bb788eaf19e65135184?autoplay=1',
    ],
    ['https://www.figma.com/board/abcdefghij/Plan?t=1', 'https://embed.figma.com/board/abcdefghij?embed-host=ibid'],
    ['https://miro.com/app/board/uXjVO1234-8=/', 'https://miro.com/app/live-embed/uXjVO1234-8=/?autoplay=true'],
    [
      'https://app.diagrams.net/#Uhttps%3A%2F%2Fexample.com%2Fx.drawio',
      'https://viewer.diagrams.net/?lightbox=1&nav=1&layers=1#Uhttps%3A%2F%2Fexample.com%2Fx.drawio',
    ],
    ['https://codepen.io/ada/pen/abCDef', 'https://codepen.io/ada/embed/abCDef?default-tab=result'],
    [
      'https://docs.google.com/document/u/1/d/abc_DEF-123/edit?usp=sharing',
      'https://docs.google.com/document/d/abc_DEF-123/preview',
    ],
    [
      'https://docs.google.com/spreadsheets/d/e/2PACX-abc/pubhtml',
      'https://docs.google.com/spreadsheets/d/e/2PACX-abc/pubhtml?widget=true',
    ],
    ['https://drive.google.com/file/d/abcDEF123/view', 'https://drive.google.com/file/d/abcDEF123/preview'],
  ] as const;
  const links = [
    '[words](https://youtu.be/dQw4w9WgXcQ)',
    'See https://youtu.be/dQw4w9WgXcQ',
    '- https://youtu.be/dQw4w9WgXcQ',
    '`https://youtu.be/dQw4w9WgXcQ`',
    '[https://youtu.be/other](https://youtu.be/dQw4w9WgXcQ)',
    'https://www.youtube.com/@channel',
    'https://youtube.com.example.com/watch?v=dQw4w9WgXcQ',
    'https://ada@youtu.be/dQw4w9WgXcQ',
    'https://youtu.be:8443/dQw4w9WgXcQ',
    'https://notyoutube.com/watch?v=dQw4w9WgXcQ',
    'https://vimeo.com/../evil',
    'https://miro.com/app/board/x%22onload=alert(1)/',
    '<iframe src="https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ"></iframe>',
    '<figure class="embed"><button class="embed-do" data-frame="https://evil.example/">Play</button></figure>',
    '<p><a href="https://youtu.be/dQw4w9WgXcQ" onclick="alert(1)">words</a></p>',
  ];
  const markdown = [...shown.map(([address]) => address), ...links].join('\n\n');
  const { body: made } = await owner.post(`${api}/pages`, { title: 'Embeds', slug: 'embeds', markdown });
  assert.doesNotMatch(made.html, /<iframe|embed-|data-frame/, 'the HTML of the API has links');
  const { body, headers } = await me.open('/hostile/w/embeds');
  const frames = [...body.matchAll(/ data-frame="([^"]*)"/g)].map(([, frame = '']) => frame.replaceAll('&amp;', '&'));
  assert.deepEqual(
    frames,
    shown.map(([, frame]) => frame),
  );
  assert.ok(body.includes('>A &quot;film&quot; &amp; more</a><span class="embed-from">Vimeo video · '));
  assert.ok(
    body.includes('<a href="https://youtu.be/dQw4w9WgXcQ?t=90" rel="nofollow noopener noreferrer" dir="auto">'),
  );
  assert.doesNotMatch(body, /<iframe/);
  const sources = (of: Headers) => /frame-src ([^;]*);/.exec(of.get('content-security-policy') ?? '')?.[1]?.split(' ');
  const allowed = sources(headers) ?? [];
  for (const frame of frames) assert.ok(allowed.includes(new URL(frame).origin), frame);
  assert.equal(new Set(allowed).size, 1 + new Set(frames.map((frame) => new URL(frame).origin)).size, 'and no others');
  for (const path of ['', '/-/search', '/-/tags', '/-/pages'])
    assert.deepEqual(sources((await me.open(`/hostile/w${path}`)).headers), allowed, path);
  for (const path of ['/-/edit/embeds', '/-/history/embeds', '/-/trash', '/-/new'])
    assert.deepEqual(sources((await me.open(`/hostile/w${path}`)).headers), ["'self'"], path);
  await owner.send('DELETE', `${api}/pages/${made.page_id}`);
});

/** Counts the pages that were read with their texts after the first `before` statements. */
const pagesReadSince = (before: number) =>
  world.statements.slice(before).filter((text) => /as is_known|as tree_tag/.test(text)).length;

test('a page transcludes the current text of pages and sections, and costs no more than before without transclusions', async () => {
  const make = (slug: string, markdown: string) => owner.post(`${api}/pages`, { title: slug, slug, markdown });
  const { body: inner } = await make(
    'inner',
    '# inner\n\nBefore.\n\n## Part *one*\n\nOne, [over there](../page), [below](#h-part-one).\n\n- [ ] a task\n\n### Deeper\n\nDeep.\n\n## Part two\n\nTwo. ^b-1\n',
  );
  await make('middle', 'In the middle.\n\n![[inner#Part one]]\n\n![[outer]]\n');
  await make(
    'outer',
    'A text.\n\n![[middle]]\n\n![[inner]]\n\n![[inner#^b-1]]\n\n![[inner#Part three]]\n\nIn ![[inner]] a line.\n',
  );
  const textOf = (body: string) =>
    /<div class="prose"[^>]*>([\s\S]*?)<\/div>\s*<footer class="page-end">/.exec(body)?.[1] ?? '';
  const open = async (slug: string) => {
    const before = world.statements.length;
    const { body } = await me.open(`/hostile/w/${slug}`);
    return { text: textOf(body), reads: pagesReadSince(before) };
  };
  const { text, reads } = await open('outer');
  assert.equal((await open('inner')).reads, 1);
  assert.equal(reads, 3, 'each page is read once');
  const figure = (path: string, content: string) =>
    `<figure class="transclusion"><figcaption><a class="wiki" href="/hostile/w/${path}" dir="auto">${path.replace(/#.*/, '')}</a></figcaption>${content}</figure>`;
  const partOne =
    '<h2>Part <em>one</em></h2>\n<p>One, <a href="/hostile/page">over there</a>, <a href="/hostile/w/inner#h-part-one">below</a>.</p>\n' +
    '<ul class="contains-task-list">\n<li class="task-list-item"><input type="checkbox" disabled> a task</li>\n</ul>\n<h3>Deeper</h3>\n<p>Deep.</p>\n';
  const partTwo = '<h2>Part two</h2>\n<p>Two.</p>';
  const link = (anchor: string) => `<a class="wiki embed" href="inner${anchor}">inner`;
  assert.equal(
    text,
    [
      '<p>A text.</p>',
      figure(
        'middle',
        `<p>In the middle.</p>\n${figure('inner#h-part-one', partOne)}\n<p><a class="wiki embed" href="/hostile/w/outer">outer</a></p>`,
      ),
      figure('inner', `\n<p>Before.</p>\n${partOne}${partTwo}`),
      figure('inner#h-%5Eb-1', '<p>Two.</p>'),
      `<p>${link('#h-part-three')}#Part three</a></p>`,
      `<p>In ${link('')}</a> a line.</p>`,
    ].join('\n'),
  );
  await owner.patch(`${api}/pages/${inner.page_id}`, { markdown: 'Changed.', base_revision: 1 });
  assert.ok((await open('outer')).text.includes(figure('inner', '<p>Changed.</p>')), 'at once');
});

test('transclusion never shows a page that the reader may not read, and any number of them stays fast', async () => {
  const make = async (slug: string, markdown: string, more = {}) =>
    (await owner.post(`${api}/pages`, { title: slug, slug, markdown, ...more })).body;
  const hidden = await make('hidden', 'A secret draft.', { status: 'draft' });
  await make('thrown', 'A secret of the trash.').then(({ page_id }) => owner.send('DELETE', `${api}/pages/${page_id}`));
  const { body: beside } = await owner.get(`/v1/workspaces/${workspace.workspace_id}/wikis`);
  const other = beside.find(({ slug }: { slug: string }) => slug === 'other');
  await owner.post(`/v1/wikis/${other.wiki_id}/pages`, { title: 'Far', slug: 'far', markdown: 'A secret elsewhere.' });
  const addresses = [
    ...['hidden', './hidden', 'thrown', '../other/far', '../w/../other/far', '..%2Fother%2Ffar', '%2e%2e/other/far'],
    ...['//x.example/far', '/hostile/other/far', '?x=/../far', '-/search', 'javascript:alert(1)', 'hidden/..', '..'],
    `../../v1/wikis/${other.wiki_id}/pages/path/far`,
  ];
  const raw = addresses.map((address) => `<p><a class="wiki embed" href="${address}">x</a></p>`);
  await make('spy', ['![[hidden]]', '![[thrown]]', '![[far]]', ...raw].join('\n\n'));
  const viewer = await browserOf((await world.member(workspace.workspace_id, 'viewer')).user_id);
  const { body, status } = await viewer.open('/hostile/w/spy');
  assert.equal(status, 200);
  assert.doesNotMatch(body, /secret|class="transclusion"/);
  assert.match((await me.open('/hostile/w/spy')).body, /transclusion[\s\S]*A secret draft/, 'who may read it sees it');
  await owner.send('DELETE', `${api}/pages/${hidden.page_id}`);

  const others = Array.from({ length: 22 }, (_, i) => `![[many-${i}]]`).join('\n\n');
  await Promise.all(Array.from({ length: 22 }, (_, i) => make(`many-${i}`, `Text ${i}.\n\n${others}`)));
  await make('all', Array.from({ length: 1_000 }, (_, i) => `![[many-${i % 22}]]`).join('\n\n'));
  const before = world.statements.length;
  const { body: all } = await me.open('/hostile/w/all');
  assert.equal(pagesReadSince(before), 1 + 20);
  assert.equal(all.split('<figure class="transclusion">').length - 1, 46, 'of fifty places those of twenty pages');
});

test('a page shows the tags and properties of its front matter, and each tag leads to its pages', async () => {
  const { body } = await me.open('/hostile/w/page/below');
  assert.match(body, /<details class="properties">.*<dt[^>]*>by<\/dt><dd/s);
  const [, address = ''] = /<a class="page-tag"[^>]*href="([^"]+)"/.exec(body) ?? [];
  assert.match(
    (await me.open(address.replaceAll('&amp;', '&').replaceAll('&#39;', "'"))).body,
    /href="\/hostile\/w\/page\/below"/,
  );
  const all = (await me.open('/hostile/w/-/tags')).body;
  assert.ok(all.includes(address), 'the list of tags leads there too');
});

test('a page is starred from its bar without a script, and is then listed in the wiki', async () => {
  const { title, path } = page;
  const button = async () =>
    /name="do" value="(add|remove)" aria-label="([^"]+)"/.exec((await me.open(`/hostile/w/${path}`)).body);
  assert.deepEqual((await button())?.slice(1), ['add', 'Star this page']);
  const form = (what: string) => ({ page_id: page.page_id, path, do: what });
  const { status, headers } = await me.submit('/hostile/w/-/stars', form('add'));
  assert.deepEqual([status, headers.get('location')], [303, `/hostile/w/${path}`]);
  assert.deepEqual((await button())?.slice(1), ['remove', 'Remove star']);
  const starred = async () =>
    /<h2>Starred<\/h2>([\s\S]*?)<\/section>/.exec((await me.open('/hostile/w')).body)?.[1] ?? '';
  assert.ok((await starred()).includes(`href="/hostile/w/${path}"`), title);
  for (const _ of ['once', 'and in another window'])
    assert.equal((await me.submit('/hostile/w/-/stars', form('remove'))).status, 303);
  assert.equal(await starred(), '');
  const long = await me.submit('/hostile/w/-/stars', { ...form('remove'), path: 'é'.repeat(4_000) });
  assert.equal(long.headers.get('location'), '/', 'no answer has headers that are too long for its client');
});

test('a wiki begins with the page that its manager has chosen, for users who may read it', async () => {
  const made = await owner.post(`${api}/pages`, { title: 'Begin here', slug: 'begin-here', markdown: 'Welcome.' });
  const { page_id } = made.body;
  const viewer = await browserOf((await world.member(workspace.workspace_id, 'viewer')).user_id);
  const choose = (page: string, by = me) => by.submit('/hostile/w/-/home', { page_id: page });
  const homeOf = async (by = me) => {
    const { status, headers } = await by.open('/hostile/w');
    return status === 303 ? headers.get('location') : status;
  };
  assert.ok(
    (await me.open('/hostile/w/begin-here')).body.includes(
      `<button name="page_id" value="${page_id}">Use as home page`,
    ),
  );
  assert.ok(!(await viewer.open('/hostile/w/begin-here')).body.includes('/-/home'));
  assert.equal((await choose(page_id, viewer)).status, 403);
  assert.equal(await homeOf(), 200);
  assert.equal((await choose(page_id)).headers.get('location'), '/hostile/w');
  assert.equal(await homeOf(), '/hostile/w/begin-here');
  assert.equal(await homeOf(viewer), '/hostile/w/begin-here');
  assert.match(
    (await me.open('/hostile/w/-/overview')).body,
    /The home page of this wiki is <a href="\/hostile\/w\/begin-here"/,
  );
  assert.ok(!(await viewer.open('/hostile/w/-/overview')).body.includes('Use this overview instead'));

  await owner.patch(`${api}/pages/${page_id}`, { status: 'draft', base_revision: 1 });
  assert.equal(await homeOf(viewer), 200, 'a draft is no home for who may not read it');
  assert.equal(await homeOf(), '/hostile/w/begin-here');
  await owner.send('DELETE', `${api}/pages/${page_id}`);
  assert.equal(await homeOf(), 200, 'nor a page in the trash');
  const { body: beside } = await owner.get(`/v1/workspaces/${workspace.workspace_id}/wikis`);
  const other = beside.find(({ slug }: { slug: string }) => slug === 'other');
  const far = await owner.post(`/v1/wikis/${other.wiki_id}/pages`, { title: 'Far', markdown: 'Far.' });
  for (const page of [page_id, far.body.page_id, 'page_none']) {
    const { status, body } = await owner.patch(`${api}/settings`, { home_page_id: page });
    assert.deepEqual([status, body.error], [400, 'invalid_request'], page);
  }
  const changes = await world.db.query<{ after: object }>(
    sql`select after from audit_events where type = 'wiki.settings_changed'`,
  );
  assert.deepEqual(changes, [{ after: { home_page_id: page_id } }], 'what was refused is no change');
  await owner.post(`${api}/pages/${page_id}/restore`);
  assert.equal(await homeOf(), '/hostile/w/begin-here', 'it comes back as what it was');
  const rooted = await owner.patch(`${api}/settings`, { site_root: '/x/' });
  assert.deepEqual(rooted.body, { site_root: '/x/', home_page_id: page_id }, 'what is not given stays');
  await choose('');
  assert.equal(await homeOf(), 200);
  assert.deepEqual((await owner.get(`${api}/settings`)).body, { site_root: '/x/', home_page_id: null });
  await owner.patch(`${api}/settings`, { site_root: null });
  await owner.send('DELETE', `${api}/pages/${page_id}`);
});

test("a wiki begins with the user's unsaved texts and recent changes, and a workspace with its wikis and members", async () => {
  const member = await world.member(workspace.workspace_id, 'member');
  await world.db.query(sql`update users set display_name = 'Grace Hopper' where user_id = ${member.user_id}`);
  await member.post(`${api}/pages`, { title: 'Half a thought', markdown: 'Not yet.', status: 'draft' });
  await member.post(`${api}/pages`, { title: 'Loom rules', markdown: 'Keep the threads dry.' });
  const mine = String((await me.open('/hostile/w')).body);
  const [, changed = ''] = /<section class="changed">([\s\S]*?)<\/section>/.exec(mine) ?? [];
  assert.match(
    changed,
    /^<h2>Recently changed<\/h2>[\s\S]*?>Loom rules<[\s\S]*?Grace Hopper[\s\S]*?<time [\s\S]*?the threads dry/,
  );
  assert.doesNotMatch(mine, /Your drafts/, 'the draft is of another');
  const [, unsaved = ''] = /<h2>Unsaved changes<\/h2>([\s\S]*?)<\/section>/.exec(mine) ?? [];
  const addresses = [...unsaved.matchAll(/href="([^"]+)"/g)].map(([, address]) => address);
  assert.deepEqual(addresses, [
    `/hostile/w/-/edit?page=${page.page_id}`,
    `/hostile/w/-/new?${new URLSearchParams({ parent: HOSTILE })}&amp;draft=unsaved-new-page`,
  ]);
  const edit = await me.open(`/hostile/w/-/edit?page=${page.page_id}`);
  assert.deepEqual([edit.status, edit.headers.get('location')], [303, '/hostile/w/-/edit/page']);
  const theirs = await browserOf(member.user_id);
  const other = String((await theirs.open('/hostile/w')).body);
  assert.match(other, /<h2>Your drafts<\/h2>[\s\S]*?>Half a thought</);
  assert.doesNotMatch(other, /Unsaved changes/, 'only who writes a text is told of it');
  const shared = String((await theirs.open('/hostile')).body);
  for (const shown of ['href="/hostile/w"', 'href="/hostile/other"', '>Loom rules<', 'Grace Hopper'])
    assert.ok(shared.includes(shown), shown);
  assert.match(
    String((await theirs.open('/hostile/w/page')).body),
    /<details class="switcher">[\s\S]*?href="\/hostile\/other"/,
  );
});

test('a wiki with a single page at its root begins with its subpages, in the tree and as cards', async () => {
  const lone = (await owner.post(`/v1/workspaces/${workspace.workspace_id}/wikis`, { title: 'Lone', slug: 'lone' }))
    .body;
  const pages = `/v1/wikis/${lone.wiki_id}/pages`;
  const { body: root } = await owner.post(pages, { title: 'Handbook', markdown: '' });
  await owner.post(pages, { title: 'Setup', markdown: '', parent_page_id: root.page_id });
  const places = async () =>
    (await me.open('/hostile/lone')).body.match(/href="\/hostile\/lone\/[a-z/]+(?=">|" title)/g);
  const [handbook, setup] = ['handbook', 'handbook/setup'].map((path) => `href="/hostile/lone/${path}`);
  assert.deepEqual((await places())?.slice(0, 4), [handbook, setup, handbook, setup]);
  await owner.post(pages, { title: 'Other', markdown: '' });
  const other = 'href="/hostile/lone/other';
  assert.deepEqual((await places())?.slice(0, 4), [handbook, other, handbook, other], 'of several none is open');
});

test('a page shows its last author and change below its title, also if the title is in the text', async () => {
  const member = await world.member(workspace.workspace_id, 'member');
  await world.db.query(sql`
    update users set display_name = 'Mary Somerville', avatar_url = 'https://people.example/mary.png' where user_id = ${member.user_id}`);
  const { body: first } = await member.post(`${api}/pages`, { title: 'Mill', markdown: '# Mill\n\nIt grinds.' });
  const bylineOf = async () =>
    /<\/h1><div class="byline">([\s\S]*?)<time datetime="([^"]+)" title="[^"]+"/.exec(
      String((await me.open('/hostile/w/mill')).body),
    );
  const [, written = '', at] = (await bylineOf()) ?? [];
  assert.match(written, /<img class="face small" src="https:\/\/people\.example\/mary\.png" alt=""/);
  assert.match(written, /Written by <span dir="auto">Mary Somerville<\/span>, $/);
  assert.equal(at, first.updated_at);
  await owner.patch(`${api}/pages/${first.page_id}`, { markdown: 'It grinds.', base_revision: 1 });
  assert.match((await bylineOf())?.[1] ?? '', /Changed by <span dir="auto">&quot;&gt;&lt;img/);
});

test('a link to a missing page leads to the form for a new page', async () => {
  const { body } = await me.open('/hostile/w/page');
  const [, address] = /data-target="Nowhere[^"]*" href="([^"]+)"/.exec(body) ?? [];
  assert.ok(address, body);
  const form = await me.open(address.replaceAll('&amp;', '&'));
  assert.match(form.body, /name="title"[^>]* value="Nowhere &amp; &quot;co&quot;"/);
});

test('forms from other sites are refused', async () => {
  for (const { method, path } of ROUTES) {
    if (method !== 'POST') continue;
    const url = path.replace(':workspace', 'hostile').replace(':wiki', 'w').replace('*', 'page');
    const fields = new URLSearchParams({
      title: 'x',
      markdown: 'x',
      page_id: page.page_id,
      base_revision: '1',
      revision: '1',
    });
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, {}] as Record<
      string,
      string
    >[]) {
      const { status, body } = await visit(method, url, { cookie: me.cookie, ...headers }, fields);
      assert.equal(status, 403, `${path}: ${body.slice(0, 300)}`);
    }
  }
  assert.equal((await owner.get(`${api}/pages/${page.page_id}`)).body.revision, 1);
});

test('after signing in, redirects lead only to paths of this service', async () => {
  for (const next of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '',
  ]) {
    const { body } = await me.open(`/sign-in?next=${encodeURIComponent(next)}`);
    assert.match(body, /name="next" value="\/"/, next);
  }
  const { headers } = await visit('GET', '/hostile/w/page', {});
  assert.equal(headers.get('location'), '/sign-in?next=%2Fhostile%2Fw%2Fpage');
});

test('a former path of a page redirects to its current one', async () => {
  const moved = (await owner.post(`${api}/pages`, { title: 'Moved', slug: 'before', markdown: '' })).body;
  await owner.patch(`${api}/pages/${moved.page_id}`, { slug: 'after' });
  const { status, headers } = await me.open('/hostile/w/before');
  assert.deepEqual([status, headers.get('location')], [308, '/hostile/w/after']);
  assert.equal((await me.open('/hostile/w/after/')).headers.get('location'), '/hostile/w/after');
});

test('pages of another workspace are answered like missing ones', async () => {
  const stranger = await world.owner();
  const theirs = await browserOf(stranger.user_id);
  for (const path of [...PAGES, '/hostile']) assert.equal((await theirs.open(path)).status, 404, path);
});

test('a user with read permission only is offered no other action, and refused it', async () => {
  const viewer = await world.member(workspace.workspace_id, 'viewer');
  const theirs = await browserOf(viewer.user_id);
  const { body } = await theirs.open('/hostile/w/page');
  for (const action of ['edit', 'move', 'duplicate', 'delete', 'new', 'upload', 'trash', 'gone', 'broken-links'])
    assert.ok(!body.includes(`/-/${action}`), action);
  const refused = await theirs.submit('/hostile/w/-/edit/page', {
    title: 'x',
    markdown: 'x',
    base_revision: '1',
    status: 'published',
  });
  assert.equal(refused.status, 403);
  assert.match(refused.body, /Request <code>req_/);
});

test('without scripts a page is made a template, and another begins with it', async () => {
  const { body: notes } = await owner.post(`${api}/pages`, {
    title: 'Notes',
    markdown: '# {{title}}\n\n{{date}} {{x}}\n',
  });
  assert.equal((await me.submit('/hostile/w/-/templates', { do: 'add', page_id: notes.page_id })).status, 303);
  const offered = String((await me.open(`/hostile/w/-/new?parent=${page.page_id}`)).body);
  const [, address = ''] = /href="([^"]+)" dir="auto">Notes</.exec(offered) ?? [];
  assert.match(address, new RegExp(`parent=${page.page_id}`));
  const form = String((await me.open(address.replaceAll('&amp;', '&'))).body);
  assert.match(form, /<textarea[^>]*>\n# \{\{title\}\}/);
  assert.match(form, /name="from_template"/);
  const fields = {
    title: 'Monday',
    markdown: '# {{title}}\r\n\r\n{{date}} {{x}}\r\n',
    parent: 'page',
    was_parent: 'page',
  };
  assert.equal((await me.submit('/hostile/w/-/new', { ...fields, from_template: 'yes' })).status, 303);
  const made = (await owner.get(`${api}/pages/path/page/monday`)).body;
  assert.match(made.markdown, /^# Monday\n\n\d{4}-\d\d-\d\d \{\{x\}\}\n$/);
  for (let i = 0; i < 2; i += 1)
    assert.equal((await me.submit('/hostile/w/-/templates', { do: 'remove', page_id: notes.page_id })).status, 303);
  assert.ok(!String((await me.open('/hostile/w/-/templates')).body).includes(`template=${notes.page_id}`));
});

test('the text field of a long text is marked, so that it can stay hidden until the editor replaces it', async () => {
  await owner.post(`${api}/pages`, { title: 'A long text', markdown: 'words '.repeat(20_000) });
  const { body } = await me.open('/hostile/w/-/edit/a-long-text');
  assert.match(body, /<label class="text-field is-long">/);
  const { body: short } = await me.open('/hostile/w/-/edit/page');
  assert.match(short, /<label class="text-field">/);
});

test('without scripts concurrent edits are merged, and neither text is lost', async () => {
  const base = ['one', 'two', 'three', 'four', 'five'].join('\n\n');
  await me.submit('/hostile/w/-/new', {
    title: 'Together',
    markdown: base.replaceAll('\n', '\r\n'),
    status: 'published',
  });
  const form = await me.open('/hostile/w/-/edit/together');
  assert.match(form.body, /<textarea[^>]*>\none\n\ntwo/);
  const edit = (markdown: string, base_revision: string) =>
    me.submit('/hostile/w/-/edit/together', { title: 'Together', markdown, base_revision, status: 'published' });
  assert.equal((await edit(base.replace('one', 'ONE'), '1')).status, 303);
  const apart = await edit(base.replace('five', 'FIVE'), '1');
  assert.equal(apart.status, 409);
  assert.match(apart.body, /Another user saved this page while you were editing/);
  assert.match(apart.body, /name="base_revision" value="2"/);
  const [, text = ''] = /<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(apart.body) ?? [];
  assert.equal(text, base.replace('one', 'ONE').replace('five', 'FIVE'));
  assert.equal((await edit(text, '2')).status, 303);
  const both = await edit(base.replace('one', 'won'), '1');
  assert.match(both.body, /&lt;&lt;&lt;&lt;&lt;&lt;&lt; yours\nwon\n=======\nONE\n&gt;/);
  const [, withMarks = ''] = /<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(both.body) ?? [];
  const published = await edit(withMarks.replaceAll('&lt;', '<').replaceAll('&gt;', '>'), '3');
  assert.equal(published.status, 409, 'marks of a conflict are not shown to readers');
  assert.match(published.body, /still contains conflict markers, first in line 1\b/);
  const saved = (await owner.get(`${api}/pages/path/together`)).body;
  assert.deepEqual([saved.revision, saved.markdown], [3, text], 'a conflict writes nothing');
});

test('renaming a page leaves no second title in its text', async () => {
  const rename = async (markdown: string, title: string) => {
    const { body } = await owner.post(`${api}/pages`, { title: 'Old name', slug: 'renamed', markdown });
    const fields = { title, markdown, base_revision: '1', status: 'published' };
    assert.equal((await me.submit('/hostile/w/-/edit/renamed', fields)).status, 303);
    const saved = (await owner.get(`${api}/pages/${body.page_id}`)).body;
    await owner.send('DELETE', `${api}/pages/${body.page_id}`);
    return [saved.title, saved.markdown];
  };
  assert.deepEqual(await rename('# Old name\n\ntext', 'New *name*'), ['New *name*', '# New \\*name\\*\n\ntext']);
  assert.deepEqual(await rename('---\na: b\n---\n# Old name #', 'New'), ['New', '---\na: b\n---\n# New #']);
  for (const other of ['# Another\n\n# Old name', 'text\n\n# Old name', '## Old name', '# Old names']) {
    assert.deepEqual(await rename(other, 'New'), ['New', other]);
  }
});

test('a deleted page says so, and can be restored', async () => {
  const gone = (await owner.post(`${api}/pages`, { title: 'Gone', markdown: '' })).body;
  assert.equal((await me.submit('/hostile/w/-/delete', { page_id: gone.page_id })).status, 303);
  const missing = await me.open('/hostile/w/gone');
  assert.equal(missing.status, 404);
  assert.match(missing.body, /is in the trash/);
  const restored = await me.submit('/hostile/w/-/trash', { page_id: gone.page_id });
  assert.deepEqual([restored.status, restored.headers.get('location')], [303, '/hostile/w/gone']);
});

test('a page is renamed, moved below another page, duplicated and deleted from its menu, and a deleted page is restored', async () => {
  const root = '/hostile/w';
  const pages = `${api}/pages`;
  const { body } = await owner.post(pages, { title: 'Loom', markdown: '# Loom\n\nThreads.' });
  await owner.post(pages, { title: 'Warp', markdown: '', parent_page_id: body.page_id });
  const menu = (await me.open(`${root}/loom`)).body;
  for (const action of ['move/loom', 'duplicate', 'delete', 'history/loom'])
    assert.ok(menu.includes(`/-/${action}"`), action);
  const moved = await me.submit(`${root}/-/move/loom`, { title: 'Power loom', parent: '/page/' });
  assert.deepEqual([moved.status, moved.headers.get('location')], [303, `${root}/page/loom`]);
  assert.equal((await owner.get(`${pages}/${body.page_id}`)).body.markdown, '# Power loom\n\nThreads.');
  assert.equal((await me.open(`${root}/loom/warp`)).headers.get('location'), `${root}/page/loom/warp`);
  const refused = await me.submit(`${root}/-/move/page/loom`, { title: 'Kept & shown', parent: 'page/loom/warp' });
  assert.equal(refused.status, 409);
  assert.match(refused.body, /Kept &amp; shown/);
  const copied = await me.submit(`${root}/-/duplicate`, { page_id: body.page_id });
  assert.match(String(copied.headers.get('location')), /\/page\/power-loom-copy$/);
  const deleted = await me.submit(`${root}/-/delete`, { page_id: body.page_id });
  const notice = (await me.open(String(deleted.headers.get('location')))).body;
  assert.match(notice, /role="status">[\s\S]*Power loom[\s\S]*Undo/);
  const back = await me.submit(`${root}/-/trash`, { page_id: body.page_id });
  assert.equal(back.headers.get('location'), `${root}/page/loom`);
});

test('a page is moved up and down among its siblings, also where they share a position', async () => {
  const root = '/hostile/w';
  const { body: parent } = await owner.post(`${api}/pages`, { title: 'Ordered', markdown: '' });
  const ids: string[] = [];
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    const made = await owner.post(`${api}/pages`, { title, markdown: '', parent_page_id: parent.page_id });
    ids.push(made.body.page_id);
  }
  const order = async () => {
    const { body } = await owner.get(`${api}/pages/${parent.page_id}/children`);
    return body.map(({ title }: { title: string }) => title).join(' ');
  };
  const move = (i: number, to: string) => me.submit(`${root}/-/order`, { page_id: String(ids[i]), to });
  const moved = await move(2, 'up');
  assert.deepEqual([moved.status, moved.headers.get('location')], [303, `${root}/ordered/three`]);
  assert.equal(await order(), 'One Three Two Four');
  await move(0, 'down');
  assert.equal(await order(), 'Three One Two Four');
  // The first and the last page cannot move further.
  await move(2, 'up');
  await move(3, 'down');
  assert.equal(await order(), 'Three One Two Four');
  await world.db.query(sql`update pages set position = 7 where page_id = any (${ids}::text[])`);
  const before = (await order()).split(' ');
  const second = ['One', 'Two', 'Three', 'Four'].indexOf(String(before[1]));
  await move(second, 'up');
  assert.equal(await order(), [before[1], before[0], before[2], before[3]].join(' '));
  const viewer = await browserOf((await world.member(workspace.workspace_id, 'viewer')).user_id);
  assert.equal((await viewer.submit(`${root}/-/order`, { page_id: String(ids[0]), to: 'up' })).status, 403);
});

test('users with write permission keep or delete pages whose files are gone, after a confirmation', async () => {
  const files = { 'sync/a.md': '# Sync A\n', 'sync/b.md': '# Sync B\n', 'sync/c.md': '# Sync C\n' };
  const send = async (names: string[]) => {
    const form = new FormData();
    form.append('mode', 'sync');
    for (const name of names) form.append('files', new Blob([files[name as keyof typeof files]]), name);
    const headers = { accept: 'text/html', cookie: me.cookie, 'sec-fetch-site': 'same-origin' };
    const sent = await world.anonymous.send('POST', '/hostile/w/-/upload', { headers, body: form, redirect: 'manual' });
    const result = String(sent.headers.get('location'));
    await waitForUpload(owner, wiki.wiki_id, result.split('/').at(-1) ?? '');
    return result;
  };
  assert.match((await me.open('/hostile/w/-/upload')).body, /name="mode" value="sync"> Keep in sync with this folder/);
  await send(Object.keys(files));
  const result = await send(['sync/a.md']);
  const address = '/hostile/w/-/gone';
  assert.match((await me.open(result)).body, /href="\/hostile\/w\/-\/gone">Keep or delete these pages/);
  assert.match((await me.open('/hostile/w/sync/b')).body, /sync\/b\.md, is missing from its folder/);
  const idOf = async (path: string) => (await owner.get(`${api}/pages/path/${path}`)).body.page_id as string;
  const [b, c] = [await idOf('sync/b'), await idOf('sync/c')];
  const question = await me.submit(address, { do: 'delete', page_id: c });
  assert.match(question.body, /Delete 1 page\?/);
  assert.doesNotMatch(question.body, /Sync B/);
  assert.equal((await owner.get(`${api}/pages/${c}`)).status, 200, 'nothing is done before the answer');
  assert.equal((await me.submit(address, { do: 'delete', page_id: c, confirmed: 'yes' })).status, 303);
  assert.equal((await me.submit(address, { do: 'delete', page_id: c, confirmed: 'yes' })).status, 303, 'done already');
  assert.equal((await me.submit(address, { do: 'keep', page_id: b, confirmed: 'yes' })).status, 303);
  assert.match((await me.open(address)).body, /No pages to review/);
  assert.equal((await owner.get(`${api}/pages/${c}`)).status, 404);
  assert.equal((await owner.get(`${api}/pages/${b}`)).body.stale, false);

  const viewer = await browserOf((await world.member(workspace.workspace_id, 'viewer')).user_id);
  assert.doesNotMatch((await viewer.open(result)).body, /-\/gone/);
  assert.equal((await viewer.open(address)).status, 403);
  assert.equal((await viewer.submit(address, { do: 'keep', page_id: b, confirmed: 'yes' })).status, 403);
});

test('an old revision can be restored', async () => {
  const made = (await owner.post(`${api}/pages`, { title: 'Old', markdown: 'first' })).body;
  await owner.patch(`${api}/pages/${made.page_id}`, { markdown: 'second', base_revision: 1 });
  assert.match((await me.open('/hostile/w/-/history/old?revision=1')).body, /Restore this revision/);
  assert.equal((await me.submit('/hostile/w/-/history/old', { revision: '1', base_revision: '2' })).status, 303);
  assert.equal((await owner.get(`${api}/pages/${made.page_id}`)).body.markdown, 'first');
});

test('files can be uploaded without scripts', async () => {
  const form = new FormData();
  form.append('files', new Blob(['# By hand\n']), 'hand/by-hand.md');
  const headers = { accept: 'text/html', cookie: me.cookie, 'sec-fetch-site': 'same-origin' };
  const sent = await world.anonymous.send('POST', '/hostile/w/-/upload', { headers, body: form, redirect: 'manual' });
  assert.equal(sent.status, 303, sent.body);
  assert.equal((await me.open(String(sent.headers.get('location')))).status, 200);
  const refused = await world.anonymous.send('POST', '/hostile/w/-/upload', {
    headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' },
    body: '--x--\r\n',
  });
  assert.equal(refused.status, 400, refused.body);
  assert.match(refused.body, /Request <code>/);
});

test('the files of an upload are listed by the attention they need, then by path in numeric order', async () => {
  const lines = (what: string) => `# ${what}\n\nOne.\n\nTwo.\n`;
  const first = { 'list/10.md': lines('Ten'), 'list/edited.md': lines('Edited'), 'list/2.md': lines('Two') };
  await world.upload(owner, wiki.wiki_id, first);
  const { body: edited } = await owner.get(`${api}/pages/path/list/edited`);
  const update = { markdown: edited.markdown.replace('One.', 'Own.'), base_revision: edited.revision };
  await owner.patch(`${api}/pages/${edited.page_id}`, update);
  const { body: again } = await world.upload(owner, wiki.wiki_id, {
    ...first,
    'list/broken.md': Buffer.from([0xff, 0x00, 0x01]),
    'list/edited.md': lines('Edited').replace('Two.', 'Theirs.'),
  });
  const { body: text } = await me.open(`/hostile/w/-/uploads/${again.upload_id}`);
  const named = [...text.matchAll(/list\/(\w+)\.md(?=<\/a>|\s*<span class="small">)/g)].map(([, name]) => name);
  assert.deepEqual(named, ['broken', 'edited', '2', '10']);
  assert.match(text, /<h1>Done, but 1 file failed<\/h1>/);
  const listed = (await me.open('/hostile/w/-/uploads')).body.split(again.upload_id)[1] ?? '';
  assert.match(listed, /^[^>]*>.*?<span class="tag">1 file failed<\/span><p>4 files: [^<]*, 1 file failed<\/p>/s);
});

test('a page says who can read it, and shows its address', async () => {
  const shared = async (open: typeof me.open) => (await open('/hostile/w/page')).body.replace(/^.*id="share"/s, '');
  const text = await shared(me.open);
  assert.match(text, /readonly[^>]* value="http:\/\/[^"/]+\/hostile\/w\/page"/);
  assert.match(text, /Everyone in <bdi>.*<\/bdi> can read this page/);
  assert.match(text, /href="\/hostile\/-\/members">Invite people/);
  const viewer = await world.member(workspace.workspace_id, 'viewer');
  const read = await shared((await browserOf(viewer.user_id)).open);
  assert.doesNotMatch(read, /Invite people/);
  assert.match(read, /href="\/hostile\/-\/members">Members/);
  const { body: draft } = await owner.post(`${api}/pages`, {
    title: 'Half',
    slug: 'half',
    markdown: '',
    status: 'draft',
  });
  assert.match((await me.open(`/hostile/w/${draft.path}`)).body, /Only people who can edit can read this draft/);
});

test('an invitation is accepted only by its recipient, after signing in', async () => {
  const guest = await world.person('guest@example.com');
  const invite = { email: 'guest@example.com', role: 'viewer' };
  const { body: invited } = await owner.post(`/v1/workspaces/${workspace.workspace_id}/members/invite`, invite);
  // The job that sends the invitation sets another secret.
  await until(
    'the invitation is sent',
    () =>
      world.db.query<{ mail_status: string }>(sql`
      select mail_status from invitations where invitation_id = ${invited.invitation_id}`),
    ([invitation]) => invitation?.mail_status === 'sent',
  );
  await world.db.query(sql`
    update invitations set secret_hash = ${sha256('of the mail')} where invitation_id = ${invited.invitation_id}`);
  const address = '/invitations/accept?token=of%20the%20mail';
  assert.equal((await visit('GET', '/invitations/accept?token=nothing', {})).status, 404);
  const offered = (await visit('GET', address, {})).body;
  assert.match(offered, /Sign in with this address to accept/);
  const [form] = formsOf(offered, address);
  const fields = Object.fromEntries(form?.fields.map(({ name, values }) => [name, values[0] ?? '']) ?? []);
  assert.deepEqual(
    [form?.path, fields],
    ['/sign-in', { email: 'guest@example.com', next: address.replace('%20', '+').replace('%20', '+') }],
  );
  const sameOrigin = { 'sec-fetch-site': 'same-origin' };
  assert.match((await visit('POST', '/sign-in', sameOrigin, new URLSearchParams(fields))).body, /no mail server/);
  assert.match((await me.open(address)).body, /Sign out, then sign in with the invited address/);
  const theirs = await browserOf(guest.user_id);
  assert.equal((await theirs.open('/')).headers.get('location'), '/invitations');
  for (const shown of ['/invitations', '/begin', address]) {
    const { body } = await theirs.open(shown);
    assert.match(body, /<button class="button main wide"[^>]*>(Accept|Join .*)<\/button>/, shown);
    assert.equal(body.match(/name="display_name"/g)?.length, 1, `${shown} asks for a name`);
  }
  const wrong = await theirs.submit('/invitations', { invitation_id: 'inv_nothing' });
  assert.equal(wrong.status, 404);
  const accepted = await theirs.submit('/invitations', {
    invitation_id: invited.invitation_id,
    display_name: 'Grace Hopper',
  });
  assert.equal((await guest.get('/v1/me')).body.display_name, 'Grace Hopper');
  assert.doesNotMatch((await theirs.open('/begin')).body, /display_name/);
  assert.deepEqual([accepted.status, accepted.headers.get('location')], [303, '/hostile']);
  assert.equal((await theirs.open('/hostile/w/page')).status, 200);
  assert.match((await theirs.open(address)).body, /You are now a member/);
});

test('a program that requests a wrong address gets the error of the API', async () => {
  for (const path of ['/nothing', '/hostile/w', '/v1/nothing']) {
    const { status, body } = await owner.get(path);
    assert.deepEqual([status, body.detail], [404, 'Not Found'], path);
  }
  const inBrowser = await me.open('/v1/nothing/here');
  assert.equal(inBrowser.status, 404);
  assert.match(String(inBrowser.headers.get('content-type')), /text\/html/);
});

test('the files for browsers are small, cached for ever and served in one version only', async () => {
  const { body } = await me.open('/hostile/w/page');
  const files = [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => String(match[1]));
  assert.ok(files.length >= 3);
  let script = 0;
  for (const file of files) {
    const answer = await fetch(world.address + file, { headers: { 'accept-encoding': 'br' } });
    assert.equal(answer.status, 200, file);
    assert.match(String(answer.headers.get('cache-control')), /immutable/);
    assert.equal(answer.headers.get('content-encoding'), 'br');
    if (file.endsWith('.js')) script += Number(answer.headers.get('content-length'));
  }
  assert.ok(script > 0 && script < 50 * 1024, `${script} bytes of script to read a page`);
  const pasted = String(files.find((file) => file.endsWith('/reader.js'))).replace('reader.js', 'rich-text.js');
  const { headers } = await fetch(world.address + pasted, { headers: { 'accept-encoding': 'br' } });
  assert.ok(Number(headers.get('content-length')) < 40 * 1024, 'what converts pasted text has no parser of its own');
  for (const wrong of [
    '/assets/000000000000/reader.js',
    '/assets/x/../../package.json',
    files[0]?.replace('style', 'nothing'),
  ]) {
    assert.equal((await owner.get(String(wrong))).status, 404, wrong);
  }
});

test('a sign-in by mail leads to the address that the browser requested, and no link can choose it', async () => {
  const form = { 'sec-fetch-site': 'same-origin' };
  const wanted = '/invitations/accept?token=a%2Bb';
  const asked = await visit(
    'POST',
    '/sign-in',
    form,
    new URLSearchParams({ email: 'mallory@example.com', next: wanted }),
  );
  assert.equal(asked.status, 200);
  const cookie = (asked.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  const open = async (headers: Record<string, string>, fields: Record<string, string> = {}) => {
    const token = await signInLink(world, owner.user_id);
    return visit('POST', '/sign-in/link', { ...form, ...headers }, new URLSearchParams({ token, ...fields }));
  };
  const signedIn = await open({ cookie });
  assert.deepEqual([signedIn.status, signedIn.headers.get('location')], [303, wanted]);
  assert.match(signedIn.headers.get('set-cookie') ?? '', /ibid_next=; [^,]*Max-Age=0/);
  // In another browser, and with an address outside this service.
  assert.equal((await open({}, { next: wanted })).headers.get('location'), '/');
  for (const other of ['//evil.example', '%2F%2Fevil.example', '%', 'https://evil.example']) {
    assert.equal((await open({ cookie: `ibid_next=${other}` })).headers.get('location'), '/', other);
  }
});

test('without any user the sign-in page says where the first link is', async () => {
  assert.doesNotMatch((await visit('GET', '/sign-in', {})).body, /There are no users yet/);
  const empty = await openWorld();
  const { body } = await empty.anonymous.send('GET', '/sign-in', { headers: { accept: 'text/html' } });
  assert.match(body, /There are no users yet[^<]*log/);
});

test('the chosen theme is kept when the browser is closed', async () => {
  const chosen = await me.submit('/theme', { theme: 'dark', next: '/' });
  assert.match(chosen.headers.get('set-cookie') ?? '', /theme=dark;.* Max-Age=31536000/);
});

test('users without write permission get no editor', async () => {
  const viewer = await browserOf((await world.member(workspace.workspace_id, 'viewer')).user_id);
  for (const path of ['/hostile/w/-/edit/page', '/hostile/w/-/new']) {
    const { status, body } = await viewer.open(path);
    assert.equal(status, 403, path);
    assert.match(body, /Your role in this workspace does not allow it/);
    assert.doesNotMatch(body, /credential|<textarea/);
  }
});

test('pages are compressed unless another site led to them', async () => {
  const path = '/hostile/w/-/search?query=word';
  const open = (headers: Record<string, string>) =>
    request(new URL(path, world.address), { accept: 'text/html', cookie: me.cookie, ...headers });
  const plain = await open({});
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const site of ['cross-site', 'same-site']) {
    const { headers } = await open({ 'sec-fetch-site': site, 'accept-encoding': 'gzip, br' });
    assert.equal(headers['content-encoding'], undefined, site);
  }
  for (const [accepted, chosen, decode] of [
    ['gzip, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
  ] as const) {
    const { headers, body } = await open({ 'sec-fetch-site': 'same-origin', 'accept-encoding': accepted });
    assert.equal(headers['content-encoding'], chosen);
    assert.ok(body.length < plain.body.length / 2, `${body.length} of ${plain.body.length} bytes`);
    assert.deepEqual(decode(body), plain.body);
  }
});

/** Sends a request and does not decode the response. */
async function request(url: URL, headers: Record<string, string>) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(url, { headers }, resolve).on('error', reject),
  );
  return { headers: answer.headers, body: Buffer.concat(await answer.toArray()) };
}

test('the end of a page lists other pages with the same words', async () => {
  const markdown = 'The turbine turns by steam, and its bearings want oil.';
  for (const title of ['Turbine', 'Engine', 'Holidays']) {
    const text = title === 'Holidays' ? 'Closed on Monday.' : markdown;
    assert.equal((await owner.post(`${api}/pages`, { title, markdown: text })).status, 201);
  }
  const { body } = await me.open('/hostile/w/turbine');
  const [, from = ''] = /<ibid-related data-from="([^"]+)"/.exec(String(body)) ?? [];
  const related = (await owner.get(from)).body;
  assert.deepEqual(
    related.map(({ title }: { title: string }) => title),
    ['Engine'],
  );
});

test('a part of a page is cached by the browser and revalidated; a whole page is not cached', async () => {
  const whole = await me.open('/hostile/w/page');
  assert.equal(whole.headers.get('cache-control'), 'no-store');
  assert.equal(whole.headers.get('etag'), null);
  const address = '/hostile/w/page?fragment=page';
  const part = await me.open(address);
  const etag = part.headers.get('etag') ?? '';
  assert.equal(part.headers.get('cache-control'), 'private, no-cache');
  assert.ok(part.body.includes('<main') && !part.body.includes('class="tree"') && !part.body.includes('class="top"'));
  assert.ok(!part.body.includes('fragment='), 'no link has the parameter');
  const ask = (cookie: string) => visit('GET', address, { cookie, 'if-none-match': etag });
  assert.deepEqual([(await ask(me.cookie)).status, (await ask(me.cookie)).body], [304, '']);
  assert.equal((await ask(`${me.cookie}; theme=dark`)).status, 200, 'other colours');
  const member = await world.member(workspace.workspace_id, 'member');
  assert.equal((await ask((await browserOf(member.user_id)).cookie)).status, 200, 'another user');
  assert.equal((await ask('')).status, 303, 'nobody');
  const asDocument = { accept: 'text/html', cookie: me.cookie, 'sec-fetch-mode': 'navigate' };
  const document = await request(new URL(address, world.address), asDocument);
  assert.equal(document.headers['cache-control'], 'no-store');
  assert.ok(document.body.includes('class="tree"'), 'a document is a whole page');
  await owner.post(`${api}/pages`, { title: 'Linking', markdown: '[there](page)' });
  assert.equal((await ask(me.cookie)).status, 200, 'a page links here now');
  assert.equal(
    (await visit('GET', '/hostile/w/nowhere?fragment=page', { cookie: me.cookie })).headers.get('etag'),
    null,
  );
});
