import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { sql } from '../src/platform/db/sql.ts';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { launchBrowser, launchFirefox, PAGE_TIMEOUT_MS, skip, skipFirefox } from '../test/browser.ts';
import { cleanUp } from '../test/clean-up.ts';
import { longTest } from '../test/extent.ts';
import { startMailServer } from '../test/mail-server.ts';
import { png } from '../test/pictures.ts';
import { signedInClient } from '../test/signed-in.ts';
import { until } from '../test/until.ts';
import { openWidgetSite } from '../test/widget-site.ts';
import { type Owner, openWorld } from '../test/world.ts';

const mail = await startMailServer();
cleanUp(() => mail.stop());
const world = await openWorld({ SMTP_URL: mail.url, MAIL_FROM: 'wiki@example.com', REQUEST_LOG_SIZE: '100' });

const SHARED_MAX = 12 * 1024;
const WIDGET_MAX = 20 * 1024;

test('each widget is at most 20 KiB beyond the shared part of at most 12 KiB, compressed', async (t) => {
  const read = async (name: string) => {
    const answer = await fetch(`${world.address}/${name}`, { headers: { 'accept-encoding': 'br' } });
    assert.equal(answer.headers.get('content-encoding'), 'br', name);
    assert.equal(answer.headers.get('access-control-allow-origin'), '*', name);
    return { bytes: Number(answer.headers.get('content-length')), text: await answer.text() };
  };
  /** Returns the files that a module loads at once, including itself, and the files that it loads on demand. */
  async function filesOf(
    name: string,
    known = new Map<string, number>(),
  ): Promise<{ files: Map<string, number>; later: string[] }> {
    const { bytes, text } = await read(name);
    known.set(name, bytes);
    for (const [, file] of text.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) {
      if (!known.has(`widgets/${file}`)) await filesOf(`widgets/${file}`, known);
    }
    const later = [...text.matchAll(/import\("\.\/([\w-]+\.js)"\)/g)].map(([, file]) => `widgets/${file}`);
    return { files: known, later };
  }
  const sets = await Promise.all(['profile', 'enterprise', 'developers'].map((name) => filesOf(`widgets/${name}.js`)));
  const shared = [...(sets[0]?.files ?? [])].filter(([file]) => sets.every(({ files }) => files.has(file)));
  const sum = (files: Iterable<[string, number]>) => [...files].reduce((total, [, bytes]) => total + bytes, 0);
  t.diagnostic(`shared: ${sum(shared)} bytes`);
  assert.ok(sum(shared) <= SHARED_MAX, `shared: ${sum(shared)} bytes`);
  const catalogues = new Set<string>();
  for (const [file] of shared) for (const later of (await filesOf(file)).later) catalogues.add(later);
  assert.equal(catalogues.size, 6, 'a file for each language');
  const largest = Math.max(
    ...(await Promise.all([...catalogues].map(async (file) => sum((await filesOf(file)).files)))),
  );
  for (const { files } of sets) {
    const own = sum([...files].filter(([file]) => !shared.some(([it]) => it === file))) + largest;
    t.diagnostic(`${[...files.keys()][0]}: ${own} bytes with the largest catalogue`);
    assert.ok(own <= WIDGET_MAX, `${[...files.keys()][0]}: ${own} bytes with the largest catalogue`);
  }
});

test('each catalogue has every message with the same placeholders, and roles are named in all', async () => {
  const read = async (language: string): Promise<Record<string, string>> =>
    (await import(fileURLToPath(new URL(`web/elements/widgets/messages/${language}.ts`, PACKAGE))))[language];
  const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  const en = await read('en');
  for (const language of ['de', 'fr', 'es', 'ja', 'ar']) {
    const messages = await read(language);
    assert.deepEqual(Object.keys(messages), Object.keys(en), language);
    for (const [key, text] of Object.entries(messages)) {
      assert.notEqual(text.trim(), '', `${language}: ${key}`);
      assert.deepEqual(placeholders(text), placeholders(String(en[key])), `${language}: ${key}`);
    }
  }
});

/**
 * Opens a site with the example for React, bundled with a usual bundler, and a server that issues tokens. Returns its
 * origin.
 */
async function openReactSite(owner: Owner): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { createRoot } from 'react-dom/client'; import { createElement } from 'react';
        import { ProfileSettings } from './react.tsx';
        createRoot(document.querySelector('main')).render(createElement(ProfileSettings))`,
      resolveDir: fileURLToPath(new URL('docs/examples/widgets', PACKAGE)),
    },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const page = `<!doctype html><html lang="en"><title>React</title><main></main>
    <script type="module" src="${world.address}/widgets/profile.js"></script><script type="module" src="/react.js"></script>`;
  let origin = '';
  const server = createServer(async ({ url }, response) => {
    if (url === '/') response.setHeader('content-type', 'text/html').end(page);
    else if (url === '/react.js') response.setHeader('content-type', 'text/javascript').end(outputFiles[0]?.text);
    else {
      const path = `/v1/workspaces/${owner.workspace_id}/widget-token`;
      response.end(JSON.stringify((await owner.post(path, { widget: 'profile', origin })).body));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUp(() => server.close());
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return origin;
}

/** Confirms the question before a dangerous action. */
async function confirm(page: Page, action: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: action }).click();
}

test('the widgets manage a workspace from a page of another site with a strict policy', { skip }, async (t) => {
  const { owner, origin } = await openWidgetSite(world, 'ada@example.com');
  const member = await world.member(owner.workspace_id, 'member');
  await world.db.query(sql`update users set display_name = 'Grace' where user_id = ${member.user_id}`);
  const elsewhere = await signedInClient(world, owner.user_id);
  const context = await (await launchBrowser()).newContext({ locale: 'en-GB' });
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  const { page, complaints } = await openWatched(context);
  await page.goto(origin);
  const [profile, enterprise, developers] = ['profile', 'enterprise', 'developers'].map((name) =>
    page.locator(`ibid-${name}`),
  );
  assert.ok(profile && enterprise && developers);
  const last = page.locator('#last');

  await t.test(
    'widgets are accessible in light and dark, left to right and right to left, at every width',
    async () => {
      await profile.getByText('ada@example.com').first().waitFor();
      await enterprise.getByLabel('Role of Grace', { exact: true }).waitFor();
      await developers.getByRole('button', { name: 'Create key' }).waitFor();
      await assertAccessible(page, 'the three widgets');
      assert.match(await profile.evaluate((it) => getComputedStyle(it).fontFamily), /Georgia/, 'the font of the page');
    },
  );

  await t.test('a member is given a role and removed, by keyboard alone, with a confirmation for both', async () => {
    const role = enterprise.getByLabel('Role of Grace', { exact: true });
    await role.focus();
    await page.keyboard.type('Vie');
    await page.getByRole('dialog').getByText('Change the role of Grace to Viewer?').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await role.inputValue(), 'member', 'what is not confirmed changes nothing');
    await role.selectOption('viewer');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await enterprise.getByText('Saved.').waitFor();
    assert.equal(await role.inputValue(), 'viewer');
    await last.getByText(`Changed: enterprise PATCH /members/${member.membership_id}`).waitFor();
    await enterprise.getByRole('button', { name: 'Remove Grace' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await enterprise.getByText('Member removed.').waitFor();
    assert.equal((await owner.get(`/v1/workspaces/${owner.workspace_id}/members`)).body.members.length, 1);
  });

  await t.test('a person is invited, the invitation is sent again and revoked', async () => {
    await enterprise.getByLabel('E-mail').fill('linus@example.com');
    await enterprise.getByRole('button', { name: 'Invite', exact: true }).click();
    await enterprise.getByText('1 active, 1 invited').waitFor();
    await enterprise.getByRole('button', { name: 'Resend to linus@example.com' }).click();
    await enterprise.getByText('Invitation sent.').waitFor();
    await enterprise.getByRole('button', { name: 'Revoke linus@example.com' }).click();
    await confirm(page, 'Revoke');
    await enterprise.getByText('1 active, 0 invited').waitFor();
  });

  await t.test('a plan is previewed line by line, and the log records each action with its widget', async () => {
    await enterprise.getByText('Plan', { exact: true }).click();
    await enterprise
      .getByRole('button', { name: /^Preview/ })
      .nth(1)
      .click();
    await enterprise.getByText('Total').waitFor();
    await enterprise.getByText('Audit log', { exact: true }).click();
    await enterprise.getByText('organization_membership.deleted').waitFor();
    await enterprise.getByLabel('Event type').fill('invitation.revoked');
    await enterprise.getByRole('button', { name: 'Search' }).click();
    await enterprise.getByText('Events shown: 1').waitFor();
    await assertAccessible(page, 'plan and audit log');
    const { body } = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events?type=invitation.revoked`);
    assert.deepEqual([body[0].widget, body[0].widget_origin], ['enterprise', origin]);
  });

  await t.test('an origin is allowed and removed, and an invalid origin is refused with an explanation', async () => {
    await enterprise.getByText('Allowed origins', { exact: true }).click();
    await enterprise.getByLabel('Origin', { exact: true }).fill('https://shop.example.com');
    await enterprise.getByRole('button', { name: 'Allow', exact: true }).click();
    await confirm(page, 'Allow');
    await enterprise.getByRole('button', { name: 'Remove https://shop.example.com' }).click();
    await confirm(page, 'Remove');
    await enterprise.getByRole('button', { name: 'Remove https://shop.example.com' }).waitFor({ state: 'detached' });
  });

  await t.test('a key is created, shown once and revoked', async () => {
    const validFor = developers.locator('select[name=days]');
    assert.equal(await validFor.inputValue(), '90');
    await developers.getByLabel('Key name').fill('Nightly import');
    await developers.getByRole('button', { name: 'Create key' }).click();
    const secret = await developers.locator('.secret code').innerText();
    const called = await world.as(secret).get('/v1/workspaces');
    assert.equal(called.status, 200);
    await assertAccessible(page, 'a new key');
    assert.equal(await validFor.inputValue(), '90', 'the form shows what it began with');
    await developers.getByRole('button', { name: 'I have saved it' }).click();
    assert.equal(await developers.getByText(secret).count(), 0);
    await developers.getByText('Recent API calls').focus();
    await page.keyboard.press('Enter');
    const call = developers.getByRole('listitem').filter({ hasText: String(called.headers.get('x-request-id')) });
    await until('the call with the new key is shown', async () => {
      await developers.getByRole('button', { name: 'Refresh' }).press('Enter');
      return (await call.count()) === 1;
    });
    assert.match(await call.innerText(), /GET \/v1\/workspaces\s+200[\s\S]*Nightly import/);
    await assertAccessible(page, 'the last calls');
    await developers.getByRole('button', { name: 'Revoke Nightly import' }).click();
    await confirm(page, 'Revoke');
    await developers.getByText('Key revoked.').waitFor();
    assert.equal((await world.as(secret).get('/v1/workspaces')).status, 401);
  });

  await t.test('the example for React shows a widget and receives its events', async () => {
    const { page } = await openWatched(context);
    const react = await openReactSite(owner);
    await owner.patch(`/v1/workspaces/${owner.workspace_id}/widget-origins`, { widget_origins: [origin, react] });
    await page.goto(react);
    await page.getByLabel('Name', { exact: true }).fill('Ada of React');
    await page.getByRole('button', { name: 'Save name' }).click();
    await page.getByRole('status').getByText('Changed: profile').waitFor();
    await page.close();
  });

  await t.test('a user sets a picture, which the browser scales down first, and removes it', async () => {
    const picture = { name: 'photo.png', mimeType: 'image/png', buffer: png({ width: 1_500, height: 900 }) };
    await profile.getByLabel('Choose a picture').setInputFiles(picture);
    const face = profile.locator('img.face');
    await face.waitFor();
    const sizes = await face.evaluate(async (it: HTMLImageElement) => {
      await it.decode();
      return [it.naturalWidth, it.naturalHeight];
    });
    assert.deepEqual(sizes, [512, 307]);
    await profile.getByLabel('Choose a picture').setInputFiles({ ...picture, buffer: Buffer.from('<script>') });
    await profile.getByText('Choose a PNG, JPEG, WebP or GIF picture.').waitFor();
    assert.match(String(complaints.pop()), /avatar was answered 415$/);
    await profile.getByRole('button', { name: 'Remove picture' }).click();
    await profile.locator('span.face').waitFor();
    assert.equal((await owner.get('/v1/me')).body.avatar_url, '');
  });

  await t.test('a user changes name and time zone, ends a session, and reads Arabic from right to left', async () => {
    await profile.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
    await profile.getByRole('button', { name: 'Save name' }).click();
    await profile.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    await profile.getByRole('button', { name: 'Sign out' }).first().click();
    await confirm(page, 'Sign out');
    await profile.getByText('Signed out of that browser or program.').waitFor();
    assert.equal((await elsewhere.get('/v1/me')).status, 401);
    await profile.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await profile.getByLabel('Language').selectOption('ar');
    await profile.getByRole('button', { name: 'Save preferences' }).click();
    await profile.getByRole('button', { name: 'حفظ الاسم' }).waitFor();
    assert.equal(await profile.locator('[part=widget]').getAttribute('dir'), 'rtl');
    await assertAccessible(page, 'in Arabic');
    for (const [lang, words] of Object.entries({
      de: 'Name speichern',
      fr: 'Enregistrer le nom',
      es: 'Guardar nombre',
      ja: '名前を保存',
    })) {
      await profile.evaluate((it, language) => it.setAttribute('lang', language), lang);
      await profile.getByRole('button', { name: words }).waitFor();
    }
  });

  await t.test('a widget is as high as its content at any width', async () => {
    for (const width of [320, 900]) {
      await page.setViewportSize({ width, height: 700 });
      const heights = await page.locator('ibid-profile, ibid-enterprise, ibid-developers').evaluateAll(async (all) => {
        const seen = new Map<Element, number>();
        await new Promise<void>((resolve) => {
          const observer = new ResizeObserver((entries) => {
            for (const { target, borderBoxSize } of entries) seen.set(target, borderBoxSize[0]?.blockSize ?? 0);
            resolve();
          });
          for (const element of all) observer.observe(element);
        });
        return all.map((it) => [
          Math.round(seen.get(it) ?? 0),
          Math.round(it.getBoundingClientRect().height),
          it.scrollHeight - it.clientHeight,
        ]);
      });
      for (const [observed, height, hidden] of heights) {
        assert.equal(observed, height);
        assert.equal(hidden, 0, 'nothing is cut off');
      }
    }
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  await t.test('an expired token is renewed, and a refusal reaches user and page', async () => {
    await world.db.query(
      sql`update workspace_controls set widget_tokens_after = now() where workspace_id = ${owner.workspace_id}`,
    );
    await developers.getByLabel('Key name').fill('Another');
    await developers.getByRole('button', { name: 'Create key' }).click();
    await developers.locator('.secret').waitFor();
    assert.deepEqual(complaints, []);
    await owner.post('/v1/auth/sign-out');
    await world.db.query(sql`update sessions set revoked_at = now() where user_id = ${owner.user_id}`);
    await developers.getByLabel('Key name').fill('Third');
    await developers.getByRole('button', { name: 'Create key' }).click();
    await last.getByText('Failed:').waitFor();
    assert.equal(await developers.getByRole('alert').count(), 1);
  });
});

longTest(
  'with 1,000 members and 60 invitations a widget loads one page at once, more on demand, and finds each',
  {
    skip,
  },
  async () => {
    const { owner, origin } = await openWidgetSite(world, 'large@example.com');
    const { workspace_id } = owner;
    await world.db.query(sql`
    with more as (
      insert into users (user_id, email, display_name)
      select 'user_large' || n, 'person-' || n || '@large.example', 'Person ' || n from generate_series(1, 999) n returning user_id
    )
    insert into memberships (membership_id, workspace_id, user_id, role, created_at)
    select 'mem_' || user_id, ${workspace_id}, user_id, 'member', now() + substr(user_id, 11)::int * interval '1 second' from more`);
    await world.db.query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    select 'inv_large' || lpad(n::text, 3, '0'), ${workspace_id}, 'guest-' || n || '@large.example', 'viewer', sha256(n::text::bytea),
      ${owner.user_id}, now() + interval '7 days' from generate_series(1, 60) n`);
    const { page, complaints } = await openWatched(await (await launchBrowser()).newContext({ locale: 'en-GB' }));
    page.setDefaultTimeout(PAGE_TIMEOUT_MS);
    const read: string[] = [];
    page.on('response', async (response) => {
      const { pathname, search } = new URL(response.url());
      if (response.request().method() === 'GET' && /\/(members|invitations)$/.test(pathname)) read.push(search);
    });
    await page.goto(origin);
    const widget = page.locator('ibid-enterprise');
    const people = widget.getByLabel(/^Role of/);
    const guests = widget.getByRole('button', { name: /^Resend to/ });
    await widget.getByText('1,000 active, 60 invited').waitFor();
    assert.deepEqual([await people.count(), await guests.count()], [25, 25]);
    assert.equal(read.length, 2, 'one part of each list');
    await widget.getByRole('button', { name: 'Show more: Members' }).press('Enter');
    await widget.getByLabel('Role of Person 49', { exact: true }).waitFor();
    await widget.getByRole('button', { name: 'Show more: Invitations' }).press('Enter');
    await widget.getByText('guest-50@large.example').waitFor();

    // After a change the list keeps all its loaded parts, so a member far down stays visible.
    await widget.getByLabel('Role of Person 40', { exact: true }).selectOption('viewer');
    await confirm(page, 'Change role');
    await widget.getByText('Saved.').waitFor();
    assert.deepEqual([await people.count(), await guests.count()], [50, 50]);
    assert.equal(await widget.getByLabel('Role of Person 40', { exact: true }).inputValue(), 'viewer');

    // Members and invitations are searched together and change together, in whatever order they are answered.
    let isHalfShown = false;
    const membersFound = page.waitForResponse(/\/members\?.*query=SON/);
    await page.route(/\/invitations\?.*query=SON/, async (route) => {
      await (await membersFound).finished();
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      isHalfShown = (await people.count()) !== 50;
      await route.continue();
    });
    await widget.getByLabel('Find by name or e-mail').fill('SON 77');
    await widget.getByRole('search').getByRole('button', { name: 'Search' }).press('Enter');
    await widget.getByText('Shown: 11').waitFor();
    assert.deepEqual([await guests.count(), isHalfShown], [0, false]);
    await widget.getByRole('button', { name: 'Remove Person 777' }).click();
    await confirm(page, 'Remove');
    await widget.getByText('Shown: 10').waitFor();
    await widget.getByLabel('Find by name or e-mail').fill('guest-7');
    await widget.getByLabel('Find by name or e-mail').press('Enter');
    await widget.getByText('No matching members.').waitFor();
    assert.equal(await guests.count(), 1);
    await widget.getByLabel('Find by name or e-mail').fill('');
    await widget.getByLabel('Find by name or e-mail').press('Enter');
    await widget.getByLabel('Role of Person 24', { exact: true }).waitFor();
    assert.equal(await people.count(), 25);
    await assertAccessible(page, 'a large workspace');

    // The audit log names the actors, and finds the action of one member in a thousand.
    await widget.getByText('Audit log', { exact: true }).click();
    await widget.getByText('organization_membership.deleted').waitFor();
    const member = widget.getByLabel('Member', { exact: true });
    await member.fill('son 500');
    await until(
      'the members that are meant are offered',
      () => widget.locator('datalist option').evaluateAll((all) => all.map((it) => (it as HTMLOptionElement).value)),
      (emails) => emails.join() === 'person-500@large.example',
    );
    const search = widget.getByRole('form', { name: 'Audit log' }).getByRole('button', { name: 'Search' });
    await member.fill('large@example.com');
    await search.click();
    await widget.getByText(/^Events shown: [1-9]/).waitFor();
    await member.fill('person-500@large.example');
    await search.click();
    await widget.getByText('No matching events.').waitFor();
    await member.fill('person');
    await search.click();
    await until(
      'the field says what to do',
      () => member.evaluate((it: HTMLInputElement) => it.validationMessage),
      (message) => message.includes('Choose one from the list'),
    );
    const sizes = read.map((query) => Number(new URLSearchParams(query).get('limit') ?? 0));
    assert.ok(Math.max(...sizes) <= 50, `no request asks for all: ${sizes}`);
    assert.deepEqual(complaints, []);
  },
);

longTest('the main functions work in Firefox', { skip: skipFirefox }, async () => {
  const { owner, origin } = await openWidgetSite(world, 'firefox@example.com');
  const page = await (await launchBrowser(launchFirefox)).newPage();
  page.setDefaultTimeout(PAGE_TIMEOUT_MS);
  await page.goto(origin);
  const [profile, enterprise, developers] = ['profile', 'enterprise', 'developers'].map((name) =>
    page.locator(`ibid-${name}`),
  );
  assert.ok(profile && enterprise && developers);
  await enterprise.getByLabel('E-mail').fill('linus@example.com');
  await enterprise.getByRole('button', { name: 'Invite', exact: true }).click();
  await enterprise.getByText('1 active, 1 invited').waitFor();
  await profile.getByLabel('Name', { exact: true }).fill('Ada of Firefox');
  await profile.getByRole('button', { name: 'Save name' }).click();
  await profile.getByRole('heading', { name: 'Ada of Firefox' }).waitFor();
  await developers.getByLabel('Key name').fill('From Firefox');
  await developers.getByRole('button', { name: 'Create key' }).click();
  await developers.locator('.secret').waitFor();
  await developers.getByRole('button', { name: 'I have saved it' }).click();
  await developers.getByRole('button', { name: 'Revoke From Firefox' }).click();
  await confirm(page, 'Revoke');
  await developers.getByText('Key revoked.').waitFor();
  assert.equal((await owner.get(`/v1/workspaces/${owner.workspace_id}/api-keys`)).body.length, 0);
});
