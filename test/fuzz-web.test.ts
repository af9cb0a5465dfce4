import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ROUTES } from '../web/routes.ts';
import { extent } from './extent.ts';
import { sendBounded, sentText } from './fuzz/bounded-request.ts';
import { openFuzzedService } from './fuzz/fuzzed-service.ts';
import { hostileText, sometimes } from './fuzz/hostile-values.ts';
import { MINUTES, runCases } from './fuzz/run-cases.ts';
import { elementsOf, formsOf, linksOf, type WebForm } from './fuzz/web-forms.ts';
import type { RawRequest } from './raw-http.ts';
import { signedInClient } from './signed-in.ts';

/**
 * Forms and addresses of the web application with garbage, with too many or too few fields, and with ids of other
 * records.
 */
const CASES = MINUTES > 0 ? 500 : extent(80, 25);
const PAGES_MAX = 120;

/** Payloads that must never become an element or an attribute. */
const PAYLOADS = [
  '"><x-fuzz onfuzz=1>',
  "'><x-fuzz onfuzz=1>",
  '</textarea></title></script><x-fuzz onfuzz=1>',
  '" onfuzz="1" x="',
  "' onfuzz=1 x='",
  '&quot;><x-fuzz>',
  '`onfuzz=1`><x-fuzz>',
  'javascript:fuzz()',
  '//evil.example/x',
  '/\\evil.example',
  'https://evil.example/',
  '/x\r\nx-fuzz: 1',
];

const service = await openFuzzedService({ PASSWORD_SIGN_IN: 'on' });
const { world } = service;

/** A browser session of a new user, with the forms and links found in the pages of its workspace. */
interface Visitor {
  cookie: string;
  home: string;
  forms: WebForm[];
  pages: string[];
}

async function openVisitor(): Promise<Visitor> {
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, {
    'guide/setup.md': '# Setup\n\nText.\n',
    'more.md': '# More\n\n[[Setup]]\n',
  });
  await owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, { email: 'x@example.com', role: 'viewer' });
  const member = await world.member(owner.workspace_id, 'member');
  assert.ok(member.membership_id);
  const made = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'Gone', markdown: 'x' });
  await owner.send('DELETE', `/v1/wikis/${owner.wiki_id}/pages/${made.body.page_id}`);
  const edited = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'Edited', markdown: 'one' });
  const edit = { markdown: 'two', base_revision: 1 };
  await owner.patch(`/v1/wikis/${owner.wiki_id}/pages/${edited.body.page_id}`, edit);
  const client = await signedInClient(world, owner.user_id);
  const { body } = await client.post('/v1/auth/browser');
  const visitor: Visitor = { cookie: `ibid=${body.browser_secret}`, home: '', forms: [], pages: [] };
  const { body: overview } = await owner.get('/v1/overview');
  visitor.home = `/${overview.session.organizations[0].slug}/${overview.wikis[0].slug}`;
  await explore(visitor);
  return visitor;
}

/** Follows links and collects forms, each kind once. */
async function explore(visitor: Visitor): Promise<void> {
  const waiting = [
    visitor.home,
    '/',
    '/me',
    '/me/keys',
    '/sign-in',
    '/welcome',
    '/begin',
    `${visitor.home}/-/new`,
    `${visitor.home}/-/trash`,
    `${visitor.home}/-/search?query=setup`,
  ];
  const seen = new Set<string>(waiting);
  const kinds = new Set<string>();
  for (let path = waiting.shift(); path !== undefined && visitor.pages.length < PAGES_MAX; path = waiting.shift()) {
    const { status, text, headers } = await send(visitor, { method: 'GET', path });
    if (status !== 200 || !String(headers['content-type']).startsWith('text/html')) continue;
    visitor.pages.push(path);
    for (const link of linksOf(text).map((href) => href.replace(/#.*/, ''))) {
      if (!seen.has(link) && !link.startsWith('/v1')) waiting.push(link);
      seen.add(link);
    }
    for (const form of formsOf(text, path)) {
      const kind = `${form.method} ${form.path.replace(/\?.*/, '')} ${form.fields.map(({ name, values }) => (name === 'do' ? values[0] : name))}`;
      if (!kinds.has(kind)) visitor.forms.push(form);
      kinds.add(kind);
    }
  }
}

function send({ cookie }: Visitor, { method, path, headers = {}, body }: RawRequest) {
  return sendBounded(world.address, {
    method,
    path,
    headers: { accept: 'text/html', cookie, 'sec-fetch-site': 'same-origin', ...headers },
    ...(body !== undefined && { body }),
  });
}

interface WebCase {
  which: number;
  isPage: boolean;
  changes: { which: number; value: string | undefined }[];
  more: [string, string][];
  type: string | undefined;
  path: string | undefined;
}

const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...PAYLOADS) },
  { weight: 2, arbitrary: hostileText },
  {
    weight: 1,
    arbitrary: fc.constantFrom('page_01jd8w3v6xf3e8h2k9m4n5p6s1', '..', '-1', '99999999999', 'x'.repeat(1_200_000)),
  },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

const cases: fc.Arbitrary<WebCase> = fc.record({
  which: fc.nat(100_000),
  isPage: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  changes: fc.array(fc.record({ which: fc.nat(20), value }), { maxLength: 4 }),
  more: fc.array(
    fc.tuple(
      fc.constantFrom(
        'next',
        'flash',
        'q',
        'query',
        'do',
        'theme',
        'parent',
        'from',
        'to',
        'base_revision',
        'x',
        '__proto__',
        'after',
        'offset',
        'token',
        'limit',
        'sources',
      ),
      value.map((text) => text ?? ''),
    ),
    { maxLength: 3 },
  ),
  type: sometimes(
    8,
    fc.constantFrom(
      'application/json',
      'text/plain',
      'multipart/form-data',
      'application/x-www-form-urlencoded; charset=x',
    ),
  ),
  path: sometimes(8, fc.constantFrom(...PAYLOADS.map(encodeURIComponent), '%00', '..%2f', '%ff', '-', 'wiki_x')),
});

let visitor = await openVisitor();
let visitors = 1;

/** Builds the request of a case: a page with a query, or a form with some of its fields changed. */
function requestOf({ which, isPage, changes, more, type, path }: WebCase): RawRequest {
  const encode = (pairs: (readonly [string, string])[]) =>
    new URLSearchParams(pairs.map(([name, text]) => [name, text.toWellFormed()])).toString();
  const elsewhere = (from: string) => (path === undefined ? from : from.replace(/[^/?]+(?=\?|$)/, path));
  if (isPage) {
    const page = visitor.pages[which % visitor.pages.length] ?? '/';
    const query = encode(more.map(([name, text]) => [name, text.slice(0, 3_000)]));
    return { method: 'GET', path: `${elsewhere(page)}${page.includes('?') ? '&' : '?'}${query}` };
  }
  const form = visitor.forms[which % visitor.forms.length];
  assert.ok(form, 'the pages have forms');
  const changed = new Map(changes.map((change) => [change.which % Math.max(1, form.fields.length), change.value]));
  const pairs = form.fields.flatMap(({ name, values }, i): [string, string][] => {
    const text = changed.has(i) ? changed.get(i) : values[which % Math.max(1, values.length)];
    return text === undefined ? [] : [[name, text]];
  });
  if (form.method === 'GET')
    return { method: 'GET', path: `${form.path.replace(/\?.*/, '')}?${encode([...pairs, ...more]).slice(0, 8_000)}` };
  if (form.isMultipart) return multipart(elsewhere(form.path), [...pairs, ...more]);
  const body = encode([...pairs, ...more]);
  return {
    method: 'POST',
    path: elsewhere(form.path),
    headers: {
      'content-type': type ?? 'application/x-www-form-urlencoded',
      'content-length': String(Buffer.byteLength(body)),
    },
    body,
  };
}

function multipart(path: string, pairs: [string, string][]): RawRequest {
  const parts = pairs.map(
    ([name, text]) => `--B\r\nContent-Disposition: form-data; name="${name}"; filename="a.md"\r\n\r\n${text}\r\n`,
  );
  const body = Buffer.from(`${parts.join('')}--B--\r\n`);
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'multipart/form-data; boundary=B', 'content-length': String(body.length) },
    body,
  };
}

async function checkCase(one: WebCase): Promise<void> {
  await service.assertAlive();
  // The last form may have ended the session, the workspace or the wiki.
  if ((await send(visitor, { method: 'GET', path: visitor.home })).status !== 200) {
    visitor = await openVisitor();
    visitors += 1;
  }
  const request = requestOf(one);
  const answer = await send(visitor, request).finally(service.assertAlive);
  const told = `${request.method} ${request.path.slice(0, 300)} ${String(request.body ?? '').slice(0, 600)} → ${answer.status}`;
  assert.ok(answer.status < 500, `${told} ${answer.text.slice(0, 300)} ${service.takeLog().slice(-1_500)}`);
  assert.equal(answer.headers['x-fuzz'], undefined, told);
  const to = answer.headers.location;
  if (to !== undefined) assert.ok(/^\/(?![/\\])/.test(to), `it redirects elsewhere: ${to}: ${told}`);
  if (!String(answer.headers['content-type']).startsWith('text/html')) return;
  for (const { tagName, properties } of elementsOf(answer.text)) {
    assert.notEqual(tagName, 'x-fuzz', `a payload became an element: ${told}`);
    assert.ok(
      !Object.keys(properties).some((name) => name.toLowerCase() === 'onfuzz'),
      `a payload became an attribute: ${told}`,
    );
    for (const name of ['href', 'src', 'action', 'formAction']) {
      assert.ok(
        !/^\s*javascript:/i.test(String(properties[name] ?? '')),
        `a payload became an address that runs: ${told}`,
      );
    }
  }
}

test('every POST route is the target of a form in a visited page, or of a form that a page shows only at times', () => {
  const sometimes = [
    '/sign-in/openid',
    '/invitation',
    '/begin',
    '/welcome',
    '/sign-in',
    '/sign-in/link',
    '/email-change',
    '/:workspace/:wiki/-/uploads/:upload_id',
    '/:workspace/:wiki/-/gone',
    '/:workspace/:wiki/-/stale',
    // Only with a payment provider.
    '/:workspace/-/billing',
    // For operators.
    '/-/admin',
  ];
  const missing = ROUTES.filter(({ method }) => method === 'POST')
    .map(({ path }) => path)
    .filter((path) => !sometimes.some((other) => path.startsWith(other)))
    .filter((path) => {
      const pattern = new RegExp(`^${path.replace(/:\w+/g, '[^/]+').replace('*', '.+')}(\\?|$)`);
      return !visitor.forms.some((form) => form.method === 'POST' && pattern.test(form.path));
    });
  assert.deepEqual(missing, [], 'no page has a form that is sent there');
});

test('no form and no address makes the web application fail, reflect markup or redirect elsewhere', async (t) => {
  await runCases(t, {
    cases: CASES,
    arbitrary: cases,
    show: (one) => JSON.stringify(one, (_, part) => (typeof part === 'string' ? part.slice(0, 500) : part)),
    check: checkCase,
  });
  t.diagnostic(`${sentText()}; ${visitor.forms.length} forms and ${visitor.pages.length} pages, ${visitors} visitors`);
});
