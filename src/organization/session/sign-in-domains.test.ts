import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { cleanUp } from '../../../test/clean-up.ts';
import { type Account, startSignInProvider } from '../../../test/openid-sign-in.ts';
import { signedInClient, signInLink } from '../../../test/signed-in.ts';
import { type Answer, openWorld } from '../../../test/world.ts';
import { runKeyCommand } from '../../operation/cli/key.ts';
import { readConfig } from '../../operation/config.ts';
import { newId } from '../../platform/core/ids.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';

const PUBLIC_URL = 'https://wiki.example.com';
const provider = await startSignInProvider(`${PUBLIC_URL}/sign-in/callback`);
cleanUp(() => provider.stop());

let log = '';
const sink = new Writable({
  write(chunk, _encoding, done) {
    log += String(chunk);
    done();
  },
});
const SIGN_IN_DOMAINS = 'Example.com., .Staff.example, bücher.example';
const world = await openWorld(
  {
    PUBLIC_URL,
    SIGN_UP: 'open',
    SIGN_IN_DOMAINS,
    PASSWORD_SIGN_IN: 'on',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'confidential',
    OIDC_CLIENT_SECRET: 'secret-of-ibid',
  },
  { log: pino({ level: 'warn' }, sink) },
);
const { anonymous, db } = world;

const WORDS = 'example.com or subdomains of staff.example or xn--bcher-kva.example';
const INSIDE = ['a@example.com', 'A@EXAMPLE.COM', 'a@wiki.staff.example', 'a@xn--bcher-kva.example'];
const OUTSIDE = [
  'a@example.org',
  'a@evil-example.com',
  'a@sub.example.com',
  'a@staff.example',
  'example.com@evil.example',
];

function assertRefused({ status, body }: Answer, email: string): void {
  const sentence = `Only addresses of ${WORDS} may sign in here, and ${email} is not one of them.`;
  assert.deepEqual([status, body.error], [403, 'forbidden'], `${email}: ${JSON.stringify(body)}`);
  assert.ok(body.message.startsWith(sentence), body.message);
  const line = log.split('\n').find((it) => it.includes(body.request_id)) ?? '';
  assert.deepEqual([JSON.parse(line).reason, JSON.parse(line).email], ['domain_not_allowed', email]);
}

test('sign-in links are sent only to addresses of the allowed domains, in any spelling', async () => {
  for (const email of INSIDE) assert.equal((await anonymous.post('/v1/auth/email', { email })).status, 200, email);
  for (const email of OUTSIDE) assertRefused(await anonymous.post('/v1/auth/email', { email }), email);
});

test('an account with another address is refused at its next sign-in by any method, and keeps its data', async () => {
  const email = 'former@example.org';
  const { user_id } = await world.person(email);
  const token = await signInLink(world, user_id);
  assertRefused(await anonymous.post('/v1/auth/email/complete', { token }), email);
  const password = 'correct horse battery staple';
  assertRefused(await anonymous.post('/v1/auth/password', { email, password }), email);
  const owner = await world.owner();
  await db.query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at, mail_status)
    values (${newId('inv')}, ${owner.workspace_id}, 'new@example.org', 'member', ${sha256('secret')}, ${owner.user_id},
      now() + interval '1 day', 'sent')`);
  assertRefused(await anonymous.post('/v1/auth/invitation', { token: 'secret' }), 'new@example.org');
  assert.deepEqual(await db.query(sql`select count(*)::int as n from users where user_id = ${user_id}`), [{ n: 1 }]);
});

test('the issuer signs in only verified addresses of the allowed domains', async () => {
  const complete = async (account: Account) => {
    const { authorization_url, attempt } = (await anonymous.post('/v1/auth/openid')).body;
    const callback_url = await provider.browse(authorization_url, account);
    return anonymous.post('/v1/auth/openid/complete', { attempt, callback_url });
  };
  const verified = { email_verified: true };
  for (const email of ['in@Example.com', 'in@bücher.example', 'in@EXAMPLE.com.']) {
    assert.equal((await complete({ sub: email, email, ...verified })).status, 200, email);
  }
  for (const email of OUTSIDE) assertRefused(await complete({ sub: email, email, ...verified }), email);
  for (const account of [{ sub: 'bare' }, { sub: 'unsaid', email: 'b@example.com' }]) {
    const { status, body } = await complete(account);
    assert.deepEqual([status, body.error], [403, 'forbidden']);
    assert.match(body.message, /^Only verified addresses of .* your organization does not say that you have one\./);
  }
  const made = await db.query(sql`select 1 from identities where subject in ('bare', 'unsaid', ${OUTSIDE[0]})`);
  assert.deepEqual(made, [], 'nobody who was refused has an account');
});

test('no other address can be invited or become the address of an account', async () => {
  const owner = await world.owner();
  const invite = (email: string) =>
    owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, { email, role: 'member' });
  const refused = await invite('a@example.org');
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_email']);
  assert.ok(refused.body.message.startsWith(`Only addresses of ${WORDS} may sign in, so a@example.org cannot`));
  assert.equal((await invite('invited@example.com')).status, 200);
  const session = await signedInClient(world, (await world.person('moves@example.com')).user_id);
  assertRefused(await session.post('/v1/me/email-change', { email: 'moves@example.org' }), 'moves@example.org');
});

test('operator commands and the link of the first user reject an address outside the domains', async () => {
  const config = readConfig({ SIGN_IN_DOMAINS: 'example.com' });
  await assert.rejects(
    runKeyCommand(config, ['--email', 'a@example.org'], () => {}),
    {
      message:
        'SIGN_IN_DOMAINS is example.com, so a@example.org may not use this service. Add its domain, or use another address.',
    },
  );
  const empty = await openWorld({ SIGN_IN_DOMAINS: 'example.com' });
  await empty.db.query(sql`insert into welcome_links (token_hash) values (${sha256('welcome')})`);
  const fields = { token: 'welcome', email: 'a@example.org' };
  const { status, body } = await empty.anonymous.post('/v1/auth/first-owner', fields);
  assert.deepEqual([status, body.error], [403, 'forbidden'], JSON.stringify(body));
  const first = await empty.anonymous.post('/v1/auth/first-owner', { ...fields, email: 'a@example.com' });
  assert.equal(first.status, 200, 'the link is still good');
});

test('an invalid domain prevents the start', () => {
  for (const value of ['*.example.com', 'a@example.com', 'example.com,', 'https://example.com', '..example.com']) {
    assert.throws(() => readConfig({ SIGN_IN_DOMAINS: value }), /SIGN_IN_DOMAINS/, value);
  }
});
