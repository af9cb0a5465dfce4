import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { ENDPOINTS } from '../src/app.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { nameOf, success, validRequest } from './requests.ts';
import { openTenants } from './tenants.ts';

/**
 * The records of the specification, repeated here so that a change of a reply shows in the diff. A field is a type,
 * with `|null` if it may be null and `?` if it may be absent. An array contains the shape of its elements.
 */
type Shape = string | [Shape] | { [field: string]: Shape };

const Workspace = {
  workspace_id: 'string',
  name: 'string',
  slug: 'string',
  role: 'string',
  permissions: ['string'],
} satisfies Shape;
const { workspace_id: organization_id, ...ofWorkspace } = Workspace;
const Organization = { organization_id, ...ofWorkspace } satisfies Shape;
const User = { user_id: 'string', email: 'string', display_name: 'string', avatar_url: 'string' } satisfies Shape;
const Wiki = {
  wiki_id: 'string',
  workspace_id: 'string',
  slug: 'string',
  title: 'string',
  description: 'string',
} satisfies Shape;
const WikiOfOrganization = {
  organization_id: 'string',
  slug: 'string',
  title: 'string',
  wiki_id: 'string',
  description: 'string',
} satisfies Shape;
const flags = {
  can_manage_billing: 'boolean',
  can_manage_developers: 'boolean',
  can_manage_members: 'boolean',
} satisfies Shape;
const allFlags = { ...flags, can_manage_enterprise: 'boolean' } satisfies Shape;
const Invitation = {
  invitation_id: 'string',
  email: 'string',
  role: 'string',
  created_at: 'string',
  expires_at: 'string',
  state: 'string',
} satisfies Shape;
const Member = {
  membership_id: 'string',
  user_id: 'string',
  display_name: 'string',
  email: 'string',
  role: 'string',
  avatar_url: 'string',
  status: 'string',
} satisfies Shape;
const Seats = {
  active: 'integer',
  used: 'integer',
  granted: 'integer',
  blocked: 'boolean',
  overage_allowed: 'boolean',
  pending: 'integer',
  unlimited: 'boolean',
} satisfies Shape;
/** `status` is the only field added to a record of the specification. */
const Upload = {
  upload_id: 'string',
  wiki_id: 'string',
  created_at: 'string',
  updated_at: 'string',
  finished_at: 'string?',
  source_count: 'integer',
  status_label: 'string',
  status: 'string',
  summary: 'string',
  error: 'string',
} satisfies Shape;
const Page = {
  page_id: 'string',
  wiki_id: 'string',
  path: 'string',
  slug: 'string',
  title: 'string',
  description: 'string',
  parent_page_id: 'string',
  position: 'integer',
  status: 'string',
  origin: 'string',
  revision: 'integer',
  created_at: 'string',
  updated_at: 'string',
  created_by: 'string',
  updated_by: 'string',
  word_count: 'integer',
  source_count: 'integer',
  stale: 'boolean',
} satisfies Shape;
const FullPage = {
  ...Page,
  markdown: 'string',
  html: 'string',
  outline: [{ level: 'integer', text: 'string', anchor: 'string' }],
  citations: [{ source_id: 'string', title: 'string', filename: 'string' }],
} satisfies Shape;
const Source = {
  source_id: 'string',
  wiki_id: 'string',
  upload_id: 'string',
  title: 'string',
  filename: 'string',
  content_type: 'string',
  byte_size: 'integer',
  sha256: 'string',
  language: 'string',
  status_label: 'string',
  page_count: 'integer',
  created_at: 'string',
  updated_at: 'string',
} satisfies Shape;
const Job = {
  job_id: 'string',
  wiki_id: 'string',
  upload_id: 'string',
  kind: 'string',
  status: 'string',
  attempt: 'integer',
  progress: 'integer',
  created_at: 'string',
  updated_at: 'string',
  started_at: 'string?',
  finished_at: 'string?',
  summary: 'string',
  error: 'string',
} satisfies Shape;

const SPECIFIED: Record<string, Shape> = {
  'POST /v1/onboarding': {
    workspace: Workspace,
    workspace_created: 'boolean',
    overview: {
      session: { user: User, workspaces: [Workspace], workspace_id: 'string|null' },
      wikis: [Wiki],
      access: [{ workspace_id: 'string', role: 'string', ...flags }],
    },
  },
  'GET /v1/overview': {
    access: [{ organization_id: 'string', role: 'string', ...allFlags }],
    session: { organizations: [Organization], user: User, organization_id: 'string' },
    wikis: [WikiOfOrganization],
  },
  'GET /v1/workspaces': [Workspace],
  'POST /v1/workspaces': Workspace,
  'GET /v1/workspaces/:workspace_id/members': {
    seats: Seats,
    viewer: { role: 'string', workspace_id: 'string', ...allFlags },
    workspace_id: 'string',
    invitations: [Invitation],
    members: [Member],
    roles: [{ name: 'string', slug: 'string', description: 'string' }],
  },
  'POST /v1/workspaces/:workspace_id/members/invite': Invitation,
  'PATCH /v1/workspaces/:workspace_id/members/:membership_id': Member,
  'PATCH /v1/wikis/:wiki_id': WikiOfOrganization,
  'GET /v1/wikis/:wiki_id/uploads/:upload_id': Upload,
  'POST /v1/workspaces/:workspace_id/widget-token': { token: 'string' },
  'POST /v1/organizations/:organization_id/billing/preview': {
    plan_id: 'string',
    checkout_type: 'string|null',
    currency: 'string|null',
    redirect_to_checkout: 'boolean',
    subtotal: 'number|null',
    total: 'number|null',
    line_items: [{ name: 'string', description: 'string', quantity: 'integer', subtotal: 'number', total: 'number' }],
  },
  'GET /v1/wikis/:wiki_id/pages': [Page],
  'GET /v1/wikis/:wiki_id/pages/search': [
    { ...Page, score: 'number', snippet: 'string', heading: 'string', anchor: 'string' },
  ],
  'GET /v1/wikis/:wiki_id/pages/:page_id': FullPage,
  'GET /v1/wikis/:wiki_id/pages/path/*page_path': FullPage,
  'GET /v1/wikis/:wiki_id/sources': [Source],
  'GET /v1/wikis/:wiki_id/sources/search': [{ ...Source, score: 'number', snippet: 'string', locator: 'string' }],
  'GET /v1/wikis/:wiki_id/jobs': [Job],
  'GET /v1/workspaces/:workspace_id/wikis': [Wiki],
  'POST /v1/workspaces/:workspace_id/wikis': Wiki,
  'POST /v1/wikis/:wiki_id/uploads': {
    0: Upload,
    1: { upload: Upload, files: [{ file_id: 'string', filename: 'string', upload_url: 'string' }] },
  },
};

interface Schema {
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
}

function shapeOf(schema: Schema, what: string): Shape {
  if (schema.anyOf) {
    const shapes = schema.anyOf.map((branch) => shapeOf(branch, what));
    return shapes.every((shape) => typeof shape === 'string') ? shapes.join('|') : Object.fromEntries(shapes.entries());
  }
  if (schema.enum) return typeof schema.enum[0];
  if (schema.type === 'array') return [shapeOf(schema.items ?? {}, what)];
  if (schema.type !== 'object') return String(schema.type);
  // An audit record contains the written record, whose shape varies.
  if (schema.additionalProperties === true) return 'object';
  assert.equal(schema.additionalProperties, false, `${what}: only declared fields may be sent; make it a Record`);
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]): [string, Shape] => {
    const shape = shapeOf(property, `${what}.${name}`);
    return [name, schema.required?.includes(name) ? shape : `${shape}?`];
  });
  return Object.fromEntries(fields);
}

const tenants = await openTenants();
const { fresh, owner, send, tokenFor } = tenants;
const ajv = new Ajv({ strict: false, allErrors: true });

for (const endpoint of ENDPOINTS) {
  const schema = JSON.parse(JSON.stringify(endpoint.reply)) as Schema;

  test(`${nameOf(endpoint)} declares exactly the fields of its record`, () => {
    const shape = endpoint.status === 204 ? undefined : shapeOf(schema, nameOf(endpoint));
    const specified = SPECIFIED[nameOf(endpoint)];
    if (specified !== undefined)
      assert.deepEqual(shape, specified, 'a record of the specification has exactly its fields');
  });

  test(`${nameOf(endpoint)} sends every field of its record, with its type, and null only if the field allows it`, async () => {
    const ids = await fresh(endpoint, owner);
    const answer = await send(validRequest(endpoint, ids, await tokenFor(endpoint, owner)), endpoint);
    assert.equal(answer.status, success(endpoint), answer.text);
    if (answer.status >= 400) return;
    if (endpoint.status === 204) return assert.equal(answer.text, '');
    const isValid = ajv.compile(schema);
    assert.ok(isValid(answer.body), `${ajv.errorsText(isValid.errors)}: ${answer.text}`);
    // This world has no payment provider, so no invoices; src/organization/billing/stripe.test.ts reads them. It
    // deletes no workspace; src/organization/workspaces/delete-workspace.test.ts reads a deleted one.
    if (Array.isArray(answer.body) && !/\/(invoices|deleted-workspaces)$/.test(endpoint.path)) {
      assert.ok(answer.body.length > 0, 'the world must have a record for every list');
    }
    checkValues(answer.body, nameOf(endpoint));
  });
}

/** Returns the schema with each reference replaced by its record. */
function resolved(schema: Schema, records: Record<string, Schema>): Schema {
  return JSON.parse(JSON.stringify(schema), (_, part) =>
    part?.$ref === undefined ? part : resolved(records[part.$ref.split('/').at(-1)] ?? {}, records),
  );
}

test('openapi.json describes the records of the specification with exactly their fields', async () => {
  const { paths, components } = JSON.parse(await readFile(new URL('openapi.json', PACKAGE), 'utf8'));
  for (const [name, specified] of Object.entries(SPECIFIED)) {
    const [method = '', path = ''] = name.split(' ');
    const { responses } = paths[path.replace(/[:*]([a-z_]+)/g, '{$1}')][method.toLowerCase()];
    const reply = responses['200'] ?? responses['201'];
    const schema = resolved(reply.content['application/json'].schema, components.schemas);
    const formReply = ENDPOINTS.find((endpoint) => nameOf(endpoint) === name)?.form?.reply;
    // For an endpoint that takes JSON or a form, it describes only the answer to the form.
    const documented = formReply ? (specified as Record<string, Shape>)['0'] : specified;
    assert.deepEqual(shapeOf(schema, name), documented, name);
  }
});

test('every record of the specification has an endpoint', () => {
  const names = new Set(ENDPOINTS.map(nameOf));
  assert.deepEqual(
    Object.keys(SPECIFIED).filter((name) => !names.has(name)),
    [],
    'these records have no endpoint',
  );
});

test('no request of this file changes a row of the other workspace', tenants.checkForeignRows);

/** Asserts that all ids and times in a reply have their formats. */
function checkValues(value: unknown, where: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    const text = typeof item === 'string' ? item : '';
    if (/_at$/.test(name))
      assert.match(
        text,
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
        `${where}.${name} must be RFC 3339 with milliseconds`,
      );
    const isId =
      /^(workspace|organization|user|membership|invitation|wiki|page|upload|job|source|key|session)_id$/.test(name) ||
      /_by$/.test(name);
    const isOfSource = name === 'page_id' && where.includes('.findings');
    // An audit record shows a column without a value as an empty text.
    const isNone = text === '' && (name === 'upload_id' || isOfSource || where.includes('.changes.'));
    if (isId && !isNone) {
      assert.match(
        text,
        /^(org|user|mem|inv|wiki|page|upload|job|source|key|ses)_[0-9a-z]{26}$/,
        `${where}.${name} must be an id`,
      );
    }
    if (name === 'permissions' && Array.isArray(item))
      assert.deepEqual(item, item.toSorted(), `${where}.${name} must be sorted`);
    checkValues(item, `${where}.${name}`);
  }
}
