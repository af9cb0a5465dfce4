import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { nameOf, propertiesOf, success, validBody, validRequest, withJson } from './requests.ts';
import { openTenants } from './tenants.ts';

/**
 * Other users see typed names in lists, mails and sentences, so every name fits one line and cannot change its
 * direction.
 */
const { fresh, a, owner, send, tokenFor } = await openTenants();

/**
 * Texts that are not names: an autosaved title is kept exactly as typed, the first owner can be created only once, and
 * a deletion only repeats the name.
 */
const OTHER_TEXTS = [
  'PUT /v1/wikis/:wiki_id/autosaves/:autosave_id',
  'POST /v1/auth/first-owner',
  'POST /v1/workspaces/:workspace_id/deletion',
];

const NAMED = ENDPOINTS.flatMap((endpoint) => {
  if (OTHER_TEXTS.includes(nameOf(endpoint))) return [];
  const names = Object.keys(propertiesOf(endpoint.body)).filter((name) => /(?:^|_)(?:name|title)$/.test(name));
  return names.map((name) => ({ endpoint, name }));
});

const REFUSED = {
  'a zero width space': '\u200b',
  'a Hangul filler': '\u3164\u115f',
  'a blank Braille pattern': '\u2800',
  'a line break': 'Grace\r\nAda',
  'a line separator': 'Grace\u2028Ada',
  'a sequence for terminals': 'Grace\u001b[2J',
  'a change of direction': 'a\u202eb',
  'an isolate without an end': '\u2067Grace',
};

/** Decomposed letters, a mark between words of both directions, and a joined emoji. */
const KEPT = 'Ka\u0308se \u05d0\u200f! <b>&amp;</b> \u{1f468}\u200d\u{1f373}';

test('the list of endpoints has names', () => {
  assert.ok(NAMED.length >= 10, NAMED.map(({ endpoint }) => nameOf(endpoint)).join());
});

for (const { endpoint, name } of NAMED) {
  const ask = async (value: string) => {
    const request = validRequest(endpoint, await fresh(endpoint, owner), await tokenFor(endpoint, owner));
    return send(withJson(request, JSON.stringify({ ...validBody(endpoint, a), [name]: value })));
  };

  test(`${nameOf(endpoint)} refuses a ${name} that cannot be shown on one line, and composes the letters of others`, async () => {
    for (const [what, value] of Object.entries(REFUSED)) {
      const { status, body } = await ask(value);
      assert.deepEqual([status, body.error], [400, name === 'title' ? 'invalid_title' : 'invalid_name'], what);
    }
    const { status, body, text } = await ask(` ${KEPT} `);
    assert.equal(status, success(endpoint), text);
    assert.equal(body[name], KEPT.normalize('NFC'));
  });
}
