import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROLES } from '../src/platform/access/roles.ts';
import { sql } from '../src/platform/db/sql.ts';
import { png } from '../test/pictures.ts';
import { limit } from '../test/quotas.ts';
import { signedInClient } from '../test/signed-in.ts';
import { type Answer, openWorld } from '../test/world.ts';

const world = await openWorld({ PASSWORD_SIGN_IN: 'on' });
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>'&lt;`;

/** A browser of a user, without scripts. */
async function browserOf(user_id: string) {
  const client = await signedInClient(world, user_id, { 'user-agent': HOSTILE });
  const { body } = await client.post('/v1/auth/browser');
  const cookie = `ibid=${body.browser_secret}`;
  const visit = (method: string, path: string, fields?: Record<string, string> | [string, string][]): Promise<Answer> =>
    world.anonymous.send(method, path, {
      headers: { accept: 'text/html', cookie, ...(fields && { 'sec-fetch-site': 'same-origin' }) },
      redirect: 'manual',
      ...(fields && { body: new URLSearchParams(fields) }),
    });
  return {
    open: (path: string) => visit('GET', path),
    submit: (path: string, fields: Record<string, string> | [string, string][]) => visit('POST', path, fields),
    /** Posts a form with a file, from a page of this site unless stated otherwise. */
    send: (path: string, fields: Record<string, string | Blob>, site = 'same-origin'): Promise<Answer> => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      const headers = { accept: 'text/html', cookie, 'sec-fetch-site': site };
      return world.anonymous.send('POST', path, { headers, redirect: 'manual', body });
    },
  };
}

const owner = await world.owner('settings@example.com');
const { body: overview } = await owner.get('/v1/overview');
const slug = overview.session.organizations[0].slug as string;
const me = await browserOf(owner.user_id);
const api = `/v1/workspaces/${owner.workspace_id}`;

await world.member(owner.workspace_id, 'viewer');

test('a service without operators has no page for them', async () => {
  const visits = [await me.open('/-/admin'), await me.submit('/-/admin', { do: 'retry', job_id: 'x' })];
  assert.deepEqual(
    visits.map(({ status }) => status),
    [404, 404],
  );
});

const SECTIONS = {
  general: 'enterprise:manage',
  members: 'members:read',
  keys: 'developers:manage',
  widgets: 'developers:manage',
  usage: 'members:read',
  audit: 'enterprise:manage',
  retention: 'enterprise:manage',
};

for (const { slug: role, permissions } of ROLES) {
  test(`a ${role} is offered exactly the settings that the role permits`, async () => {
    const member = await world.member(owner.workspace_id, role);
    const browser = await browserOf(member.user_id);
    const { body: members } = await browser.open(`/${slug}/-/members`);
    for (const [section, permission] of Object.entries(SECTIONS)) {
      const isTheirs = (permissions as readonly string[]).includes(permission);
      assert.equal(members.includes(`href="/${slug}/-/${section}"`), isTheirs, section);
      const { status, body } = await browser.open(`/${slug}/-/${section}`);
      assert.equal(status, isTheirs ? 200 : 403, `${section}: ${body}`);
      if (!isTheirs) assert.match(body, /Ask an owner or an admin of the workspace[\s\S]*Request <code>/);
    }
    const manages = permissions.includes('members:manage');
    for (const action of ['invite', 'role', 'deactivate', 'remove', 'transfer']) {
      const isOffered = manages && (action !== 'transfer' || role === 'owner');
      assert.equal(members.includes(`name="do" value="${action}"`), isOffered, action);
    }
    assert.equal(
      members.includes('<option value="owner"'),
      role === 'owner',
      "no role above the user's own is offered",
    );
    assert.ok(members.includes('name="do" value="leave"'), 'every member but the last owner can leave');
    for (const path of ['/me', '/me/keys']) assert.equal((await browser.open(path)).status, 200);
    await owner.send('DELETE', `${api}/members/${member.membership_id}`);
  });
}

test("a browser keeps a device cookie beyond the session, so that others' password guesses do not delay it", async () => {
  const { user_id } = await world.person('device@example.com');
  const client = await signedInClient(world, user_id);
  const password = 'correct horse battery staple';
  assert.equal((await client.post('/v1/me/password', { new_password: password })).status, 200);
  const signIn = (typed: string, cookie = '') =>
    world.anonymous.send('POST', '/sign-in', {
      headers: { accept: 'text/html', cookie, 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
      body: new URLSearchParams({ email: 'device@example.com', password: typed }),
    });
  const signedIn = await signIn(password);
  const [, device = ''] = signedIn.headers.getSetCookie();
  assert.match(device, /^ibid-device=ibid_dv_\w+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=7776000$/);
  await Promise.all(Array.from({ length: 6 }, () => signIn('wrong')));
  assert.equal((await signIn(password)).status, 429);
  assert.equal((await signIn(password, device.split(';')[0])).status, 303);
});

test('the settings of a workspace are not found by users who are not its members', async () => {
  const stranger = await world.person();
  const browser = await browserOf(stranger.user_id);
  for (const section of Object.keys(SECTIONS)) {
    assert.equal((await browser.open(`/${slug}/-/${section}`)).status, 404);
    assert.equal(
      (await browser.submit(`/${slug}/-/members`, { do: 'invite', email: 'x@example.com', role: 'owner' })).status,
      404,
    );
  }
  const own = await browser.open('/me');
  assert.equal(own.status, 200, 'a user without a workspace has a profile');
  assert.match(own.body, /You are not in any workspace/);
});

test('a refused form shows the error, the remedy and the request id, and keeps the input', async () => {
  const path = `/${slug}/-/members`;
  const bad = await me.submit(path, { do: 'invite', email: 'two@example.com, three@example.com', role: 'viewer' });
  assert.equal(bad.status, 400);
  assert.match(bad.body, /role="alert"><p>Send one plain e-mail address/);
  assert.match(bad.body, /Request <code>req_/);
  assert.match(bad.body, /value="two@example.com, three@example.com"/);
  assert.match(bad.body, /<option value="viewer" selected>/);
  const member = await me.submit(path, { do: 'invite', email: 'settings@example.com', role: 'viewer' });
  assert.equal(member.status, 409);
  assert.match(member.body, /They are in the list of members below/);
  const last = await me.submit(path, { do: 'leave', membership_id: owner.membership_id });
  assert.equal(last.status, 409);
  assert.match(last.body, /Make another member an owner first/);
  assert.equal((await me.submit(path, { do: 'nothing' })).status, 400);
  assert.equal((await me.submit(path, { do: 'constructor' })).status, 400);
});

test('the last owner is offered no action that would leave the workspace without an owner', async () => {
  const { body } = await me.open(`/${slug}/-/members`);
  assert.ok(!body.includes('value="leave"') && body.includes('the only one'));
});

test('a new key is shown once, has the chosen permissions and expiry, and works until it is revoked', async () => {
  const path = `/${slug}/-/keys`;
  assert.match((await me.open(path)).body, /No keys yet. Create one above/);
  const made = await me.submit(path, [
    ['do', 'make'],
    ['name', HOSTILE],
    ['days', '30'],
    ['permission', 'pages:read'],
    ['permission', 'members:read'],
  ]);
  assert.equal(made.status, 200);
  assert.equal(made.headers.get('cache-control'), 'no-store');
  const [, secret] = /<code id="secret"[^>]*>(ibid_live_\w+)</.exec(made.body) ?? [];
  assert.ok(secret, made.body);
  const { body: keys } = await owner.get(`${api}/api-keys`);
  assert.deepEqual(keys[0].permissions, ['members:read', 'pages:read']);
  assert.ok(Math.abs(Date.parse(keys[0].expires_at) - Date.now() - 30 * 86_400_000) < 60_000);
  assert.equal((await world.as(secret).get(`${api}/members`)).status, 200);
  const list = await me.open(path);
  assert.ok(!list.body.includes(secret), 'the secret is in no other reply');
  assert.match(list.body, /Restricted to: members:read, pages:read/);
  const revoked = await me.submit(path, { do: 'revoke', key_id: keys[0].key_id });
  assert.equal(revoked.status, 303);
  assert.equal((await world.as(secret).get(`${api}/members`)).status, 401);
});

test('a user changes their name, sets a password and signs out everywhere', async () => {
  const person = await world.person('names@example.com');
  const browser = await browserOf(person.user_id);
  assert.equal(
    (await browser.submit('/me', { do: 'name', display_name: '  Ada  ' })).headers.get('location'),
    '/me?flash=named',
  );
  assert.equal((await person.get('/v1/me')).body.display_name, 'Ada');
  assert.match((await browser.submit('/me', { do: 'name', display_name: ' ' })).body, /role="alert"/);
  assert.match((await browser.submit('/me', { do: 'password', new_password: 'short' })).body, /role="alert"/);
  const set = await browser.submit('/me', { do: 'password', new_password: 'correct horse battery staple' });
  assert.equal(set.headers.get('location'), '/me?flash=password');
  const signedIn = await world.anonymous.post('/v1/auth/password', {
    email: 'names@example.com',
    password: 'correct horse battery staple',
  });
  assert.equal(signedIn.status, 200);
  const out = await browser.submit('/me', { do: 'everywhere' });
  assert.equal(out.headers.get('location'), '/sign-in');
  assert.match(out.headers.get('set-cookie') ?? '', /^ibid=; .*Max-Age=0/);
  assert.equal((await browser.open('/me')).headers.get('location'), '/sign-in?next=%2Fme');
  assert.equal((await world.as(signedIn.body.access_token).get('/v1/me')).status, 401);
});

test('a user sets and removes a picture in a form without scripts, and members see it', async () => {
  const person = await world.owner('pictured@example.com');
  const colleague = await browserOf((await world.member(person.workspace_id, 'member')).user_id);
  const browser = await browserOf(person.user_id);
  const file = (bytes: Buffer | string, name = 'me.png') =>
    new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], name, { type: 'image/png' });
  const sendPicture = (picture: File, site?: string) => browser.send('/me', { do: 'picture', picture }, site);
  const set = await sendPicture(file(png()));
  assert.equal(set.headers.get('location'), '/me?flash=pictured', set.body);
  const { avatar_url } = (await person.get('/v1/me')).body;
  const image = `<img class="face `;
  const shows = (body: string) => body.includes(image) && body.includes(`src="${new URL(avatar_url).pathname}"`);
  assert.ok(shows((await browser.open('/me?flash=pictured')).body));
  assert.match((await browser.open('/me?flash=pictured')).body, /Picture changed/);
  assert.ok(shows((await colleague.open('/pictured/-/members')).body));

  for (const [wrong, words] of [
    [file('<!doctype html><script>alert(1)</script>'), /The file is not a picture/],
    [file(''), /The file is not a picture/],
    [file(png({ width: 4_000, height: 3_000 })), /may have at most 1024 on each side/],
    [file(Buffer.alloc(2 ** 21 + 2 ** 20)), /at most 1 MiB/],
  ] as const) {
    const refused = await sendPicture(wrong);
    assert.ok(refused.status >= 400 && refused.status < 500, String(refused.status));
    assert.match(refused.body, /role="alert"/);
    assert.match(refused.body, words);
    assert.ok(shows(refused.body), 'the picture before is still shown');
  }
  assert.equal((await sendPicture(file(png()), 'cross-site')).status, 403);
  const broken = await world.anonymous.send('POST', '/me', {
    headers: {
      accept: 'text/html',
      'content-type': 'multipart/form-data; boundary=x',
      'sec-fetch-site': 'same-origin',
    },
    redirect: 'manual',
    body: '--x',
  });
  assert.equal(broken.headers.get('location'), '/sign-in?next=%2Fme', 'a stranger’s form is not read');
  const unread = await browser.send('/me', {});
  assert.equal(unread.status, 400);

  assert.equal((await browser.submit('/me', { do: 'unpicture' })).headers.get('location'), '/me?flash=unpictured');
  const { body } = await browser.open('/me');
  assert.ok(!body.includes(image) && !body.includes('value="unpicture"'));
  assert.match(body, /<span class="face large" data-initial="." aria-hidden="true">/);
});

test('without a script a user downloads their data and deletes their account, and is told what prevents it', async () => {
  const person = await world.owner('leaving@example.com');
  const browser = await browserOf(person.user_id);
  const { body: page } = await browser.open('/me');
  assert.match(page, /<form method="post" action="\/v1\/me\/export">/);
  const archive = await browser.submit('/v1/me/export', {});
  assert.equal(archive.status, 200);
  assert.match(archive.headers.get('content-disposition') ?? '', /^attachment; filename="my-data\.zip"$/);
  assert.match(archive.body, /^PK/);

  const remove = (email: string) => browser.submit('/me', { do: 'delete', email });
  for (const [email, words] of [
    ['other@example.com', /not the address of your account/],
    ['leaving@example.com', /You are the only member of “leaving”, which has wikis/],
  ] as const) {
    const refused = await remove(email);
    assert.ok([400, 409].includes(refused.status));
    assert.match(refused.body, /role="alert"/);
    assert.match(refused.body, words);
  }
  await person.send('DELETE', `/v1/wikis/${person.wiki_id}`);
  const done = await remove('leaving@example.com');
  assert.equal(done.headers.get('location'), '/sign-in?deleted', done.body);
  const cookies = done.headers.getSetCookie();
  assert.ok(
    ['ibid=;', 'ibid-device=;'].every((name) => cookies.some((it) => it.startsWith(name) && it.includes('Max-Age=0'))),
  );
  assert.match((await browser.open('/sign-in?deleted')).body, /Your account has been deleted/);
  assert.equal((await person.get('/v1/me')).status, 401);
});

test('the audit log is filtered and paged', async () => {
  for (let i = 0; i < 51; i += 1) await owner.patch(`/v1/wikis/${owner.wiki_id}`, { title: `Handbook ${i}` });
  const first = await me.open(`/${slug}/-/audit?type=wiki.renamed`);
  assert.match(first.body, /Handbook 49 → Handbook 50/);
  assert.match(first.body, /Wiki <strong>Handbook 50<\/strong> renamed/);
  const [, later] = /href="([^"]+)">Older</.exec(first.body) ?? [];
  const second = await me.open(String(later).replaceAll('&amp;', '&'));
  assert.match(second.body, / → Handbook 0</);
  assert.match(second.body, />Newest</);
  const { body: page } = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'Minutes', markdown: 'a' });
  await owner.patch(`/v1/wikis/${owner.wiki_id}/pages/${page.page_id}`, { markdown: 'b', base_revision: 1 });
  assert.match((await me.open(`/${slug}/-/audit`)).body, /Page <strong>Minutes<\/strong> updated/);
  assert.match((await me.open(`/${slug}/-/audit?after=2100-01-01`)).body, /No matching events/);
  assert.equal((await me.open(`/${slug}/-/audit?after=yesterday`)).status, 422);
});

test('without configured payments no plan and no price is offered', async () => {
  assert.doesNotMatch((await me.open(`/${slug}/-/members`)).body, /-\/billing"/);
  const { status, body } = await me.open(`/${slug}/-/billing`);
  assert.equal(status, 200);
  assert.match(body, /Payments are not set up on this server/);
  assert.doesNotMatch(body, /\$\d/);
  const member = await browserOf((await world.member(owner.workspace_id, 'member')).user_id);
  assert.equal((await member.open(`/${slug}/-/billing`)).status, 403);
});

test('the sites that can show widgets are set; an invalid origin is refused and the input kept', async () => {
  const path = `/${slug}/-/widgets`;
  assert.match((await me.open(path)).body, /No site is allowed yet/);
  const saved = await me.submit(path, { do: 'origins', origins: 'https://b.example\n\n https://a.example:8443/ ' });
  assert.equal(saved.status, 303);
  const { body } = await owner.get(`${api}/widget-origins`);
  assert.deepEqual(body.widget_origins, ['https://a.example:8443', 'https://b.example']);
  const bad = await me.submit(path, { do: 'origins', origins: 'https://a.example/page' });
  assert.equal(bad.status, 400);
  assert.match(bad.body, />https:\/\/a\.example\/page<\/textarea>/);
});

test('no settings page renders user text as markup', async () => {
  await world.db.query(sql`update users set display_name = ${HOSTILE} where user_id = ${owner.user_id}`);
  await world.db.query(sql`update workspaces set name = ${HOSTILE} where workspace_id = ${owner.workspace_id}`);
  await owner.post(`${api}/api-keys`, { name: HOSTILE });
  assert.equal((await me.submit(`/${slug}/-/retention`, { do: 'hold', reason: HOSTILE })).status, 303);
  await owner.patch(`/v1/wikis/${owner.wiki_id}`, { title: HOSTILE });
  const query = encodeURIComponent(HOSTILE);
  const paths = [
    'members',
    'keys',
    'widgets',
    'billing',
    'audit',
    'retention',
    `audit?type=${query}`,
    `members?flash=${query}`,
  ].map((it) => `/${slug}/-/${it}`);
  for (const path of [...paths, '/me', '/me/keys']) {
    const { status, body, headers } = await me.open(path);
    assert.equal(status, 200, path);
    assert.match(
      headers.get('content-security-policy') ?? '',
      /default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    const outside = String(body).replace(/="[^"]*"/g, '=""');
    assert.equal(/<img(?! class="")|<script>|<[^>]*onerror|<style|<[^>]*\sstyle=/.exec(outside), null, path);
  }
});

test('any page can load the module of the widgets, and loads it again only when it has changed', async () => {
  const answer = await fetch(`${world.address}/widgets.js`, { headers: { origin: 'https://elsewhere.example' } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('access-control-allow-origin'), '*');
  assert.equal(answer.headers.get('content-type'), 'text/javascript; charset=utf-8');
  const module = await answer.text();
  const parts = [...module.matchAll(/import"\.\/([^"]+)"/g)].map(([, path]) => path);
  const code = (await Promise.all(parts.map(async (path) => (await fetch(`${world.address}/${path}`)).text()))).join(
    '',
  );
  for (const name of ['ibid-profile', 'ibid-enterprise', 'ibid-developers']) assert.ok(code.includes(name), name);
  const again = await fetch(`${world.address}/widgets.js`, {
    headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
  });
  assert.equal(again.status, 304);
});

test('the usage of a workspace is shown with its limits, in words as well as in bars', async () => {
  const { workspace_id } = owner;
  const usageOf = async () => (await me.open(`/${slug}/-/usage`)).body as string;
  const before = await usageOf();
  assert.match(before, /<th scope="row">Wikis<\/th>\s*<td class="number">1<\/td><td class="number">1,000<\/td>/);
  assert.match(before, /<meter aria-label="Wikis"[^>]*value="0.001"/);
  await limit(world.db, workspace_id, { wikis: 1, pages: null });
  const after = await usageOf();
  assert.match(after, /100 %, limit reached/);
  assert.match(after, /<td class="number">unlimited<\/td>/);
  const refused = await me.submit(`/${slug}/-/wikis`, { do: 'make', title: 'One more' });
  assert.equal(refused.status, 409);
  assert.match(refused.body, /The workspace is limited to 1 wikis, and this would bring it to 2/);
  await limit(world.db, workspace_id, { wikis: 'plan', pages: 'plan' });
});

test('a wiki is deleted, and deleted for good, only after its title was typed, and can be restored in between', async () => {
  const other = await world.owner();
  const [{ slug: its }] = (await other.get('/v1/workspaces')).body;
  const theirs = await browserOf(other.user_id);
  const path = `/${its}/-/wikis`;
  const api = `/v1/wikis/${other.wiki_id}`;
  assert.equal((await other.patch(api, { title: 'R&D <plans>' })).status, 200);
  assert.match((await theirs.open(path)).body, /Title of the wiki, to confirm <input name="confirm_title" required/);
  const deletion = { do: 'delete', wiki_id: other.wiki_id };
  for (const typed of ['', 'R&D', 'r&d <plans>']) {
    const refused = await theirs.submit(path, { ...deletion, confirm_title: typed });
    assert.equal(refused.status, 422, typed);
    assert.match(refused.body, /Nothing was deleted\. To delete this wiki, type its title: R&amp;D &lt;plans&gt;/);
    assert.equal((await other.get(api)).status, 200, 'the wiki is still there');
  }
  assert.equal((await theirs.submit(path, deletion)).status, 422, 'a form of an older page');
  const stranger = await world.owner();
  const foreign = { do: 'delete', wiki_id: stranger.wiki_id, confirm_title: '' };
  const hidden = await theirs.submit(path, foreign);
  assert.ok(hidden.status === 403 || hidden.status === 404, 'the title of another tenant is not told');
  assert.doesNotMatch(hidden.body, /type its title/);
  const confirmed = { ...deletion, confirm_title: ' R&D <plans> ' };
  assert.equal((await theirs.submit(path, confirmed)).status, 303);
  assert.equal((await other.get(api)).status, 404);

  assert.match((await theirs.open(path)).body, /<h2>Trash<\/h2>[\s\S]*R&amp;D &lt;plans&gt;[\s\S]*kept until <time/);
  assert.equal((await theirs.submit(path, { do: 'restore', wiki_id: other.wiki_id })).status, 303);
  assert.equal((await other.get(api)).status, 200);
  assert.doesNotMatch((await theirs.open(path)).body, /<h2>Trash/);
  await theirs.submit(path, confirmed);
  const purge = { do: 'purge', wiki_id: other.wiki_id };
  assert.equal((await theirs.submit(path, { ...purge, confirm_title: 'R&D' })).status, 422);
  assert.equal((await theirs.submit(path, { ...purge, confirm_title: 'R&D <plans>' })).status, 303);
  assert.doesNotMatch((await theirs.open(path)).body, /<h2>Trash/);
});

test('the description of a wiki is changed together with its title and shown on its home', async () => {
  const other = await world.owner();
  const [{ slug: its }] = (await other.get('/v1/workspaces')).body;
  const theirs = await browserOf(other.user_id);
  const given = { do: 'rename', wiki_id: other.wiki_id, title: 'Guide', description: 'How <we> work' };
  assert.equal((await theirs.submit(`/${its}/-/wikis`, given)).status, 303);
  assert.match((await theirs.open(`/${its}/-/wikis`)).body, />How &lt;we&gt; work<\/textarea>/);
  assert.match((await theirs.open(`/${its}/main`)).body, /<h1>Guide<\/h1><p class="lead">How &lt;we&gt; work<\/p>/);
});

test('the retention times and a legal hold are described in words, and an admin is told who can set a hold', async () => {
  const other = await world.owner();
  const [{ slug: its }] = (await other.get('/v1/workspaces')).body;
  const path = `/${its}/-/retention`;
  const theirs = await browserOf(other.user_id);
  const times = { do: 'change', trash_days: '14', revision_days: '', audit_days: '' };
  assert.equal((await theirs.submit(path, times)).headers.get('location'), `${path}?flash=changed`);
  const shown = (await theirs.open(`${path}?flash=changed`)).body;
  assert.match(shown, /Retention times saved. Nothing is deleted before tomorrow/);
  assert.match(shown, /name="trash_days" min="7" max="3650" value="14"/);
  assert.match(shown, /Nothing is deleted before <time/);
  for (const days of ['6', 'soon', '1e3']) {
    const refused = await theirs.submit(path, { ...times, trash_days: days });
    assert.equal(refused.status, days === '6' ? 400 : 422, days);
    assert.ok(refused.body.includes(`name="trash_days" min="7" max="3650" value="${days}"`), 'the input is kept');
  }
  const admin = await browserOf((await world.member(other.workspace_id, 'admin')).user_id);
  assert.match((await admin.open(path)).body, /An owner can set one/);
  assert.equal((await admin.submit(path, { do: 'hold', reason: 'x' })).status, 403);
  assert.equal((await theirs.submit(path, { do: 'hold', reason: 'A case' })).status, 303);
  const held = (await admin.open(path)).body;
  assert.match(
    held,
    /A legal hold is set, so nothing is deleted[\s\S]*Set <time[\s\S]*: A case<\/p>[\s\S]*An owner can lift it/,
  );
  const { title } = (await other.get(`/v1/wikis/${other.wiki_id}`)).body;
  const deletion = { do: 'delete', wiki_id: other.wiki_id, confirm_title: title };
  const refused = await theirs.submit(`/${its}/-/wikis`, deletion);
  assert.equal(refused.status, 409);
  assert.match(refused.body, /under a legal hold[\s\S]*For the reason, see “Retention” in the settings/);
  assert.equal((await theirs.submit(path, { do: 'lift', reason: 'Settled' })).status, 303);
  assert.match((await theirs.open(path)).body, /Set a legal hold/);
});

test('the history of a page lists all remaining revisions, newest first, in parts', async () => {
  const other = await world.owner();
  const [{ slug: its }] = (await other.get('/v1/workspaces')).body;
  const theirs = await browserOf(other.user_id);
  const { body: page } = await other.post(`/v1/wikis/${other.wiki_id}/pages`, { title: 'Long', markdown: 'Text.' });
  await world.db.query(sql`
    insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
    select wiki_id, page_id, n, title, markdown, html, outline, created_by from revisions, generate_series(40, 100) n
    where page_id = ${page.page_id} and revision = 1`);
  await world.db.query(sql`update pages set revision = 100 where page_id = ${page.page_id}`);
  const numbers = (html: string) => [...html.matchAll(/\?revision=(\d+)"/g)].map(([, number]) => Number(number));
  const newest = (await theirs.open(`/${its}/main/-/history/${page.path}`)).body;
  assert.deepEqual(
    numbers(newest),
    Array.from({ length: 50 }, (_, i) => 100 - i),
  );
  const older = /rel="next" href="([^"]+)">Older/.exec(newest)?.[1]?.replaceAll('&amp;', '&') ?? '';
  assert.deepEqual(numbers((await theirs.open(older)).body), [50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 1]);
});
