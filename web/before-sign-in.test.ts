import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { JWTPayload } from 'jose';
import { pino } from 'pino';
import { ENDPOINTS } from '../src/app.ts';
import { REFUSALS } from '../src/platform/access/before-sign-in.ts';
import { newId } from '../src/platform/core/ids.ts';
import { sha256 } from '../src/platform/core/secrets.ts';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from '../test/clean-up.ts';
import { type Account, startSignInProvider } from '../test/openid-sign-in.ts';
import { signedInClient, signInLink } from '../test/signed-in.ts';
import { type Answer, openWorld } from '../test/world.ts';

const PUBLIC_URL = 'http://wiki.example.com';
const provider = await startSignInProvider(`${PUBLIC_URL}/sign-in/callback`);
cleanUp(() => provider.stop());

interface Line {
  reason?: string;
  msg: string;
  [fact: string]: unknown;
}
const lines: Line[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    lines.push(
      ...String(chunk)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
    done();
  },
});

const world = await openWorld(
  {
    PUBLIC_URL,
    PASSWORD_SIGN_IN: 'on',
    OPERATORS: 'ops@example.com, unverified@example.com',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'confidential',
    OIDC_CLIENT_SECRET: 'secret-of-ibid',
  },
  { log: pino({ level: 'info' }, sink) },
);

const SAME_SITE = { accept: 'text/html', 'sec-fetch-site': 'same-origin' };

/** Opens a page in a browser without a session. */
const open = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  world.anonymous.send('GET', path, { redirect: 'manual', headers: { ...SAME_SITE, ...headers } });
const submit = (path: string, fields: Record<string, string>, headers: Record<string, string> = SAME_SITE) =>
  world.anonymous.send('POST', path, {
    redirect: 'manual',
    headers: { accept: 'text/html', ...headers },
    body: new URLSearchParams(fields),
  });

/** Returns the visible text of a page. */
function textOf({ body }: Answer): string {
  return String(body)
    .replace(/<(style|script|head)[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ');
}

/** Returns the log line that matches. A response is logged before it is sent. */
function logged(isMeant: (line: Line) => boolean): Line {
  const line = lines.find(isMeant);
  assert.ok(line, `not in the log, whose last lines are: ${JSON.stringify(lines.slice(-5))}`);
  return line;
}

/** Asserts the text that a user reads about a refusal, and its reason in the log. Returns the log line. */
function assertTold(answer: Answer, status: number, sentence: string | RegExp, reason: string): Line {
  const text = textOf(answer);
  assert.equal(answer.status, status, text);
  if (typeof sentence === 'string') assert.ok(text.includes(sentence), `"${sentence}" is not in: ${text}`);
  else assert.match(text, sentence);
  assert.doesNotMatch(text, /Your role|\bundefined\b|\bnull\b/);
  const request_id = /Request (req_\S+)/.exec(text)?.[1];
  assert.ok(request_id, `a request id is in: ${text}`);
  return logged((it) => it.reason === reason && it.request_id === request_id);
}

test('a form that no page of the service sent is refused with its cause, and the log names the origins', async () => {
  const forms = ['/welcome', '/sign-in', '/sign-in/link', '/invitations/accept', '/sign-out', '/-/admin', '/begin'];
  for (const form of forms) {
    const lan = { host: 'nas.lan:8080', origin: 'http://nas.lan:8080' };
    const byOtherName = await submitByHost(form, lan);
    const line = assertTold(
      byOtherName,
      403,
      `This service is set up for ${PUBLIC_URL}, and you came by http://nas.lan:8080. Open ${PUBLIC_URL}, or have the service started with PUBLIC_URL=http://nas.lan:8080.`,
      'form_at_another_address',
    );
    assert.deepEqual([line.origin, line.expected, line.level], ['http://nas.lan:8080', PUBLIC_URL, 40], form);
  }
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const line = assertTold(
    await submit('/sign-in', { email: 'a@example.com' }, foreign),
    403,
    `This form was sent from https://evil.example, and the service accepts forms only from ${PUBLIC_URL}.`,
    'form_of_another_site',
  );
  assert.deepEqual([line.origin, line.sec_fetch_site], ['https://evil.example', 'cross-site']);
  assertTold(
    await submit('/sign-in', { email: 'a@example.com' }, { origin: 'null' }),
    403,
    'Your browser did not say which site this form is from.',
    'form_without_origin',
  );
});

/** Submits a form from a browser that used another name of the machine. `fetch` sets the Host itself. */
async function submitByHost(path: string, headers: Record<string, string>): Promise<Answer> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const sent = request(
      world.address + path,
      {
        method: 'POST',
        headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
      },
      async (response) => {
        let body = '';
        for await (const chunk of response.setEncoding('utf8')) body += chunk;
        resolve({ status: response.statusCode ?? 0, headers: new Headers(), body });
      },
    );
    sent.on('error', reject);
    sent.end('token=x');
  });
}

test('a link in a mail that is wrong, used or expired says so', async () => {
  const person = await world.person();
  const used = await signInLink(world, person.user_id);
  assert.equal((await submit('/sign-in/link', { token: used })).status, 303);
  const sentence = 'This sign-in link has expired or was already used. Request a new one.';
  assertTold(await submit('/sign-in/link', { token: used }), 401, sentence, 'link_unknown');
  assertTold(await submit('/sign-in/link', { token: 'x' }), 401, sentence, 'link_unknown');
  assertTold(await submit('/sign-in/link', {}), 401, sentence, 'link_unknown');
  const old = await signInLink(world, person.user_id);
  await world.db.query(sql`update email_links set expires_at = now() where token_hash = ${sha256(old)}`);
  assertTold(await submit('/sign-in/link', { token: old }), 401, sentence, 'link_expired');
});

test('a wrong password and an unknown address get the same answer', async () => {
  for (const email of ['nobody@example.com', (await personWithAddress()).email]) {
    assertTold(
      await submit('/sign-in', { email, password: 'wrong horse battery staple' }),
      401,
      'The address or the password is wrong. If you leave the password empty, you get a sign-in link by mail.',
      'password_wrong',
    );
  }
});

async function personWithAddress() {
  const { user_id } = await world.person();
  const [user] = await world.db.query<{ email: string }>(sql`select email from users where user_id = ${user_id}`);
  return { user_id, email: user?.email ?? '' };
}

test('the welcome link of a service with users says that it already has users', async () => {
  await world.person();
  const fields = { token: 'x', display_name: 'A', email: 'a@example.com' };
  const sentence =
    'This service already has its first user. Sign in, or ask a member of your workspace for an invitation.';
  assertTold(await submit('/welcome', fields), 401, sentence, 'welcome_has_users');
});

test('an invalid welcome link says where to find the valid one', async () => {
  const empty = await openWorld({}, { log: pino({ level: 'info' }, sink) });
  const answer = await empty.anonymous.send('POST', '/welcome', {
    headers: SAME_SITE,
    body: new URLSearchParams({ token: 'x', display_name: 'A', email: 'a@example.com' }),
  });
  const sentence = 'Open the link that the service printed when it last started.';
  assertTold(answer, 401, sentence, 'welcome_unknown');
});

test('an invitation link that opens nothing says whom to ask', async () => {
  const sentence = 'This invitation link is no longer valid';
  for (const token of ['x', 'x'.repeat(43)]) {
    const answer = await open(`/invitations/accept?token=${token}`);
    assertTold(answer, 404, sentence, 'invitation_unknown');
  }
});

test('the page of operators looks like a missing page to other users, and the log tells the operator why', async () => {
  assert.equal((await open('/-/admin')).headers.get('location'), '/sign-in?next=%2F-%2Fadmin');
  assert.equal((await submit('/-/admin', { do: 'retry' })).status, 303);
  const unverified = await world.person('unverified@example.com');
  const session = await signedInClient(world, unverified.user_id);
  const { body } = await session.post('/v1/auth/browser');
  await world.db.query(sql`update users set email_verified = false where user_id = ${unverified.user_id}`);
  const cookie = `ibid=${body.browser_secret}`;
  assertTold(await open('/-/admin', { cookie }), 404, 'There is no such wiki.', 'operator_address_unverified');
  const stranger = await signedInClient(world, (await world.person()).user_id);
  const other = await stranger.post('/v1/auth/browser');
  const seen = await open('/-/admin', { cookie: `ibid=${other.body.browser_secret}` });
  assertTold(seen, 404, 'There is no such wiki.', 'no_operator');
});

/** Begins at /sign-in/openid, lets the provider redirect the browser, and opens the callback. */
async function comeBack(browse: (url: string) => Promise<string>, forged?: (nonce: string) => JWTPayload) {
  const begun = await open('/sign-in/openid');
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const to = begun.headers.get('location') ?? '';
  const back = new URL(await browse(to));
  if (forged) provider.forge(forged(new URL(to).searchParams.get('nonce') ?? ''));
  try {
    return { answer: await open(back.pathname + back.search, { cookie }), path: back.pathname + back.search, cookie };
  } finally {
    provider.forge(undefined);
  }
}

const as = (account: Account) => (url: string) => provider.browse(url, account);

test('a sign-in that the issuer refuses says so, and the log has the reason of the issuer', async () => {
  const { answer } = await comeBack((url) => provider.deny(url));
  const line = assertTold(
    answer,
    401,
    'Your organization did not sign you in (access_denied). Ask the people who run its sign-in whether you may use this service.',
    'openid_issuer_refused',
  );
  assert.deepEqual([line.error, line.description], ['access_denied', 'not in the group wiki']);
});

test('a callback without its attempt, or used a second time, says to start again', async () => {
  const sentence =
    'This sign-in took longer than 10 minutes, was completed already, or began in another browser. Start again.';
  const { answer, path, cookie } = await comeBack(as({ sub: 'twice' }));
  assert.equal(answer.status, 303);
  assertTold(await open(path, { cookie }), 401, sentence, 'openid_attempt_unknown');
  assertTold(await open('/sign-in/callback?code=x&state=y'), 401, sentence, 'openid_attempt_unknown');
});

test('a clock difference is shown and logged with its size', async () => {
  const now = Math.floor(Date.now() / 1000);
  for (const [claims, words, about] of [
    [{ iat: now + 90 }, 'ahead of', 90],
    [{ iat: now - 400, exp: now - 100 }, 'behind', -400],
  ] as const) {
    const { answer } = await comeBack(as({ sub: 'ann' }), (nonce) => ({ nonce, email: 'ann@example.com', ...claims }));
    const told = new RegExp(
      `The clocks differ: your organization's is \\d+ seconds ${words} the clock of this service, and at most 30 are accepted\\.`,
    );
    const { seconds_ahead } = assertTold(answer, 401, told, 'openid_clock');
    assert.ok(Math.abs(Number(seconds_ahead) - about) < 60, String(seconds_ahead));
  }
});

test('an untrusted answer of the issuer says where its reason is logged', async () => {
  const { answer } = await comeBack(as({ sub: 'ann' }), (nonce) => ({ nonce, aud: 'another client' }));
  assertTold(answer, 401, 'could not be accepted. Start again.', 'openid_answer_invalid');
});

/** Returns the text for a user without a workspace after signing in at the issuer. */
async function beginsWith(account: Account): Promise<string> {
  const { answer } = await comeBack(as(account));
  assert.equal(answer.status, 303, textOf(answer));
  const cookie = answer.headers
    .getSetCookie()
    .map((it) => it.split(';')[0])
    .join('; ');
  return textOf(await open('/begin', { cookie }));
}

test('a user whose address the issuer does not send or verify learns why no invitation is shown', async () => {
  assert.match(await beginsWith({ sub: 'bare' }), /Your organization does not send your e-mail address/);
  logged((it) => it.reason === 'openid_no_address' && it.subject === 'bare');
  for (const [sub, email_verified, claim] of [
    ['no', false, 'false'],
    ['unsaid', undefined, 'missing'],
    ['word', 'false', '"false"'],
  ] as const) {
    const account = { sub, email: `${sub}@example.com`, ...(email_verified !== undefined && { email_verified }) };
    assert.match(await beginsWith(account), /your organization does not confirm that \S+ is yours/);
    const line = logged((it) => it.reason === 'openid_address_unverified' && it.subject === sub);
    assert.deepEqual([line.email, line.email_verified], [account.email, claim]);
  }
  const verified = await beginsWith({ sub: 'yes', email: 'yes@example.com', email_verified: 'true' });
  assert.match(verified, /No invitation for yes@example\.com\. Ask an owner of the workspace to invite this address\./);
});

test('an issuer that writes "true" as a string verifies the address: an invitation is open', async () => {
  const owner = await world.owner();
  await world.db.query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at, mail_status)
    values (${newId('inv')}, ${owner.workspace_id}, 'string@example.com', 'member', ${sha256('s')}, ${owner.user_id},
      now() + interval '1 day', 'sent')`);
  assert.match(
    await beginsWith({ sub: 'string', email: 'string@example.com', email_verified: 'true' }),
    /invited you\. Your role: member/,
  );
});

test('each endpoint that needs no credential refuses a wrong secret with a reason in the log', async () => {
  const bare = await openWorld({}, { log: pino({ level: 'info' }, sink) });
  let refused = 0;
  for (const { method, path, example, access } of ENDPOINTS) {
    if (access.on !== 'anyone' || path.startsWith('/v1/avatars/') || path === '/v1/webhooks/stripe') continue;
    for (const { anonymous } of [world, bare]) {
      const { body } = example as { body?: object };
      const answer = await anonymous.send(method, `${path}${method === 'GET' ? '?token=x' : ''}`, {
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      if (![401, 403, 404].includes(answer.status)) continue;
      const { request_id, message } = answer.body;
      const line = logged((it) => it.request_id === request_id);
      assert.ok(line.reason !== undefined && line.reason in REFUSALS, `${method} ${path}: ${JSON.stringify(line)}`);
      assert.equal(line.msg, message);
      refused += 1;
    }
  }
  assert.ok(refused >= 10, `${refused} were refused`);
});

test('an ended session, and a code that the issuer does not accept, say so', async () => {
  const { tokens } = await signedInClient(world, (await world.person()).user_id);
  const spent = { refresh_token: tokens.refresh_token };
  assert.equal((await world.anonymous.post('/v1/auth/refresh', spent)).status, 200);
  assert.equal((await world.anonymous.post('/v1/auth/refresh', spent)).status, 401);
  const { answer } = await comeBack(async (url) => {
    const back = new URL(await provider.browse(url, { sub: 'code' }));
    back.searchParams.set('code', 'x');
    return back.href;
  });
  const sentence = 'Your organization no longer accepts this sign-in: it took too long, or was completed already.';
  assertTold(answer, 401, sentence, 'openid_code_refused');
  const { email } = await personWithAddress();
  const owner = await world.owner();
  await world.db.query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    values (${newId('inv')}, ${owner.workspace_id}, ${email}, 'member', ${sha256('account')}::bytea, ${owner.user_id},
      now() + interval '1 day')`);
  assert.equal((await world.anonymous.post('/v1/auth/invitation', { token: 'account' })).status, 401);
});

test('an address that SIGN_IN_DOMAINS excludes is told so, by mail and at the issuer', async () => {
  const closed = await openWorld(
    {
      PUBLIC_URL,
      SIGN_IN_DOMAINS: 'example.com',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'confidential',
      OIDC_CLIENT_SECRET: 'secret-of-ibid',
    },
    { log: pino({ level: 'info' }, sink) },
  );
  const body = new URLSearchParams({ email: 'ann@example.org' });
  const asked = await closed.anonymous.send('POST', '/sign-in', { headers: SAME_SITE, body });
  const sentence = 'Only addresses of example.com may sign in here, and ann@example.org is not one of them.';
  assertTold(asked, 403, sentence, 'domain_not_allowed');
  const begun = await closed.anonymous.send('GET', '/sign-in/openid', { redirect: 'manual', headers: SAME_SITE });
  const back = new URL(await provider.browse(begun.headers.get('location') ?? '', { sub: 'bare' }));
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const headers = { ...SAME_SITE, cookie };
  const refused = await closed.anonymous.send('GET', back.pathname + back.search, { headers });
  assertTold(refused, 403, 'Only verified addresses of example.com may sign in here', 'domain_not_verified');
});

test('a page opened without a session leaves no warning in the log', async () => {
  const before = lines.length;
  for (const path of [
    '/',
    '/acme/main',
    '/acme/main/plan',
    '/sign-in',
    '/invitations',
    '/-/admin',
    '/acme/-/members',
  ]) {
    const { status, headers } = await open(path);
    assert.ok(status === 200 || headers.get('location')?.startsWith('/sign-in'), path);
  }
  assert.deepEqual(
    lines.slice(before).filter(({ level }) => Number(level) >= 40),
    [],
  );
});

test('the tests above covered every refusal before sign-in, with its reason', () => {
  const seen = new Set(lines.map(({ reason }) => reason));
  assert.deepEqual(
    Object.keys(REFUSALS).filter((reason) => !seen.has(reason)),
    [],
  );
});
