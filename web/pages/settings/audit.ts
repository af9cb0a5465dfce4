import type { AuditEvent } from '../../../src/organization/audit/schema.ts';
import type { Member, MembersList } from '../../../src/organization/members/schema.ts';
import { type Html, html } from '../../html.ts';
import { time } from '../../layout.ts';
import { partLinks, readPart } from '../../paging.ts';
import { settingsPage } from '../../settings.ts';
import type { SettingsContext } from '../../settings-context.ts';
import type { Visit } from '../../visit.ts';

const PAGE_SIZE = 50;
/** Maximum number of members in the filter. */
const MEMBERS_MAX = 500;
const DAY_MS = 86_400_000;

interface Filters {
  type: string;
  actor_id: string;
  /** Days as YYYY-MM-DD, or "". */
  after: string;
  before: string;
}

export const [audit] = settingsPage({
  path: '/:workspace/-/audit',
  title: 'Audit log',
  flashMessages: {},
  actions: {},
  async main(visit, context) {
    const filters = filtersOf(visit);
    const [part, { members }] = await Promise.all([
      readPart<AuditEvent>(visit, `${context.api}/audit-events?${auditQuery(filters)}`),
      visit.api.get<MembersList>(`${context.api}/members?limit=${MEMBERS_MAX}`),
    ]);
    const named =
      members.length < MEMBERS_MAX ? members : [...members, ...(await otherActors(visit, context, part.records))];
    return html`<p class="lead">Every change in ${context.workspace.name}, newest first: who, what, and from where.</p>
      ${form(filters, members)}
      ${part.records.length === 0 ? html`<p class="empty">No ${part.isFirst ? '' : 'more '}matching events. Choose an earlier day or clear the other filters.</p>` : table(part.records, named)}
      ${partLinks(part, { first: 'Newest', next: 'Older' })}`;
  },
});

/** Reads the filters. Without a date the log starts a week ago, because a whole log may cover years. */
function filtersOf({ query }: Visit): Filters {
  const lastWeek = new Date(Date.now() - 7 * DAY_MS).toISOString().slice(0, 10);
  return {
    type: query.get('type')?.trim() ?? '',
    actor_id: query.get('actor_id') ?? '',
    after: query.get('after') ?? lastWeek,
    before: query.get('before') ?? '',
  };
}

function auditQuery({ type, actor_id, after, before }: Filters): URLSearchParams {
  const day = (text: string, later = 0) => {
    const time = Date.parse(`${text}T00:00:00Z`);
    return Number.isNaN(time) ? text : new Date(time + later).toISOString();
  };
  return new URLSearchParams({
    limit: String(PAGE_SIZE),
    order: 'newest',
    ...(type !== '' && { type }),
    ...(actor_id !== '' && { actor_id }),
    ...(after !== '' && { after: day(after) }),
    ...(before !== '' && { before: day(before, DAY_MS) }),
  });
}

/** Loads the actors of the shown events, if not all members were loaded. */
async function otherActors(visit: Visit, context: SettingsContext, events: readonly AuditEvent[]): Promise<Member[]> {
  const actors = new Set(events.map(({ actor_id }) => actor_id).filter((id) => id !== ''));
  if (actors.size === 0) return [];
  return (await visit.api.get<MembersList>(`${context.api}/members?user_id=${[...actors].join(',')}`)).members;
}

function form({ type, actor_id, after, before }: Filters, members: readonly Member[]): Html {
  return html`<form class="fields">
    <label>From <input type="date" name="after" value="${after}"></label>
    <label>To <input type="date" name="before" value="${before}"></label>
    <label>Who <select name="actor_id"><option value="">anyone</option>${members.map(({ user_id, display_name, email }) => html`<option value="${user_id}"${user_id === actor_id && html` selected`}>${display_name || email}</option>`)}</select></label>
    <label>What <input name="type" list="types" placeholder="anything" value="${type}" maxlength="100" autocomplete="off"></label>
    <datalist id="types">${TYPES.map((it) => html`<option value="${it}"></option>`)}</datalist>
    <button class="button">Show</button></form>`;
}

/** Suggestions; users can type any other type. */
const TYPES = [
  'api_key.created',
  'api_key.revoked',
  'invitation.created',
  'invitation.accepted',
  'organization_membership.updated',
  'organization_membership.deleted',
  'page.updated',
  'upload.created',
  'wiki.deleted',
  'wiki.renamed',
  'wiki.restored',
  'workspace.renamed',
  'workspace.logo_changed',
  'workspace.transferred',
  'workspace.deleted',
  'workspace.restored',
  'workspace.updated',
];

function table(events: readonly AuditEvent[], members: readonly Member[]): Html {
  const nameOf = new Map(members.map(({ user_id, display_name, email }) => [user_id, display_name || email]));
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Changes"><table class="log"><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th></tr></thead>
    <tbody>${events.map(
      (
        it,
      ) => html`<tr><td>${time(it.created_at)}</td><td>${it.actor_id === '' ? 'the service' : (nameOf.get(it.actor_id) ?? html`a former member, <code>${it.actor_id}</code>`)}</td>
      <td><details><summary>${sentence(it, nameOf)}</summary>${details(it)}</details></td></tr>`,
    )}</tbody></table></div>`;
}

/** Allows line breaks after each word of a name. */
function breakable(name: string): Html {
  return html`${name.split(/(?<=[._])/).map((part) => html`${part}<wbr>`)}`;
}

/** Describes an event in a sentence with the name of its target. */
function sentence(event: AuditEvent, nameOf: ReadonlyMap<string, string>): Html {
  const { type, target_kind, target_id, target_name, changes } = event;
  const happened = type.slice(type.indexOf('.') + 1).replaceAll('_', ' ');
  const found = { ...changes.before, ...changes.after } as Record<string, unknown>;
  const name =
    target_name ||
    nameOf.get(String(found.user_id ?? target_id)) ||
    [found.title, found.name, found.email, found.filename].find((it) => typeof it === 'string' && it !== '');
  const kind = (KINDS[target_kind] ?? target_kind).replaceAll('_', ' ');
  return html`${kind}${name !== undefined && html` <strong>${String(name)}</strong>`} ${happened} <span class="small">${breakable(type)}</span>`;
}

/** Labels for the kinds of targets, as in the rest of the web application. */
const KINDS: Record<string, string> = {
  organization_membership: 'Member',
  api_key: 'API key',
  page: 'Page',
  wiki: 'Wiki',
  workspace: 'Workspace',
  invitation: 'Invitation',
  upload: 'Upload',
  attachment: 'Attachment',
  source: 'Source',
  session: 'Session',
  user: 'User',
  export: 'Export',
  import: 'Import',
  job: 'Job',
};

function details({
  target_kind,
  target_id,
  changes,
  address,
  request_id,
  credential_kind,
  credential_id,
}: AuditEvent): Html {
  const fields = [...new Set([...Object.keys(changes.before), ...Object.keys(changes.after)])];
  const value = (record: object, name: string) => {
    const found = (record as Record<string, unknown>)[name];
    return found === undefined ? '–' : typeof found === 'string' ? found : JSON.stringify(found);
  };
  return html`<dl class="facts small"><dt>${target_kind}</dt><dd><code>${target_id}</code></dd>
    <dt>By</dt><dd>${credential_kind} <code>${credential_id}</code> from ${address}</dd><dt>Request</dt><dd><code>${request_id}</code></dd>
    ${fields.map((name) => html`<dt>${name}</dt><dd>${value(changes.before, name)} → ${value(changes.after, name)}</dd>`)}</dl>`;
}
