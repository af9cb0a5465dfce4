import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { cleanUp } from '../../../../test/clean-up.ts';
import { isLocalHost } from './local-host.ts';
import { openSmtpMail } from './smtp-mail.ts';

const passwords: string[] = [];
const names: string[] = [];
const raws: string[] = [];
/** Accepts any password and offers no TLS. */
const server = new SMTPServer({
  logger: false,
  authOptional: true,
  allowInsecureAuth: true,
  disabledCommands: ['STARTTLS'],
  onAuth({ username, password }, _session, done) {
    passwords.push(password ?? '');
    done(null, { user: username });
  },
  onData(stream, { hostNameAppearsAs }, done) {
    names.push(String(hostNameAppearsAs));
    let raw = '';
    stream.setEncoding('utf8').on('data', (text) => (raw += text));
    stream.on('end', () => {
      raws.push(raw);
      done();
    });
  },
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
cleanUp(() => new Promise<void>((resolve) => server.close(() => resolve())));
const { port } = server.server.address() as AddressInfo;
const message = { to: 'ada@example.com', subject: 'S', text: 'T', html: '<p>T' };

test('a password is sent over a public network only with TLS, unless SMTP_URL disables that', async () => {
  // Reaches this machine too, but is not a local address by its form.
  const elsewhere = `smtp://me:hidden@0.0.0.0:${port}`;
  const refused = /offers no TLS.*smtps:\/\/ in SMTP_URL, or add \?requireTLS=false/;
  await assert.rejects(openSmtpMail(elsewhere, 'wiki@example.com').send(message), refused);
  await assert.rejects(openSmtpMail(elsewhere, 'wiki@example.com').check(), refused);
  assert.deepEqual(passwords, []);
  await openSmtpMail(`${elsewhere}?requireTLS=false`, 'wiki@example.com').check();
  await openSmtpMail(`smtp://me:here@127.0.0.1:${port}`, 'wiki@example.com').check();
  assert.deepEqual(passwords, ['hidden', 'here']);
});

test('hosts in a private network are local', () => {
  const local = [
    'localhost',
    'mailpit',
    'smtp.mail.svc.cluster.local',
    'nas.lan',
    '10.1.2.3',
    '172.20.0.2',
    '192.168.1.1',
    '[::1]',
    '[fd00::1]',
  ];
  for (const host of local) assert.ok(isLocalHost(new URL(`smtp://${host}`).hostname), host);
  const far = [
    'smtp.example.com',
    'local.example.com',
    '172.32.0.1',
    '8.8.8.8',
    '0.0.0.0',
    '[2001:db8::1]',
    '10.example.com',
  ];
  for (const host of far) assert.ok(!isLocalHost(new URL(`smtp://${host}`).hostname), host);
});

test('the service sends its configured name in EHLO, which SMTP_URL can override', async () => {
  const url = `smtp://127.0.0.1:${port}`;
  await openSmtpMail(url, 'wiki@example.com', 'wiki.example.com').send(message);
  await openSmtpMail(`${url}?name=relay.example.com`, 'wiki@example.com', 'wiki.example.com').send(message);
  assert.deepEqual(names.slice(-2), ['wiki.example.com', 'relay.example.com']);
});

test('messages are marked as automatic, so that auto-responders do not reply', async () => {
  await openSmtpMail(`smtp://127.0.0.1:${port}`, 'wiki@example.com').send(message);
  assert.match(raws.at(-1) ?? '', /^Auto-Submitted: auto-generated\r$/m);
});
