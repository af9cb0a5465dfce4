import type { MembersList } from '../../../src/organization/members/schema.ts';
import type { Retention } from '../../../src/organization/retention/schema.ts';
import { type Content, type Html, html } from '../../html.ts';
import { time } from '../../layout.ts';
import { settingsPage } from '../../settings.ts';
import type { SettingsContext } from '../../settings-context.ts';
import { disclosure, hiddenFields } from '../../settings-forms.ts';
import type { Visit } from '../../visit.ts';

type SettingName = 'trash_days' | 'revision_days' | 'audit_days';

interface Setting {
  label: string;
  /** The shortest time, in days. */
  shortest: number;
  /** Describes which data is deleted, and the meaning of an empty field. */
  what: string;
}

const SETTINGS: Record<SettingName, Setting> = {
  trash_days: {
    label: 'Deleted pages (days)',
    shortest: 7,
    what: 'Pages are deleted for good, with their history and attachments, after this many days in the trash. If empty: 30 days.',
  },
  revision_days: {
    label: 'Old page revisions (days)',
    shortest: 30,
    what: 'A revision is deleted for good this many days after a newer one replaced it. The current revision of a page is always kept. So are the latest revision from an upload and the revisions that unsaved changes are based on. If empty, all revisions are kept.',
  },
  audit_days: {
    label: 'Audit log (days)',
    shortest: 90,
    what: 'Records are deleted for good after this many days, except records of changes on this page and of legal holds. If empty, all records are kept.',
  },
};
const NAMES = Object.keys(SETTINGS) as SettingName[];
const LONGEST = 3_650;

const reasonOf = ({ form }: Visit) => ({ reason: form.get('reason') ?? '' });

export const [retention, changeRetention] = settingsPage({
  path: '/:workspace/-/retention',
  title: 'Retention',
  flashMessages: {
    changed: 'Retention times saved. Nothing is deleted before tomorrow.',
    held: 'Legal hold set. Nothing is deleted for good from now on.',
    lifted: 'Legal hold lifted. Nothing is deleted before tomorrow.',
  },
  actions: {
    async change({ api, form }, context) {
      const days = (name: SettingName) => {
        const text = form.get(name)?.trim() ?? '';
        // The API refuses values that are not numbers.
        return [name, text === '' ? null : /^\d+$/.test(text) ? Number(text) : text];
      };
      await api.patch(`${context.api}/retention`, Object.fromEntries(NAMES.map(days)));
      return 'changed';
    },
    async hold(visit, context) {
      await visit.api.post(`${context.api}/legal-hold`, reasonOf(visit));
      return 'held';
    },
    async lift(visit, context) {
      await visit.api.post(`${context.api}/legal-hold/lift`, reasonOf(visit));
      return 'lifted';
    },
  },
  async main(visit, context) {
    const settings = await visit.api.get<Retention>(`${context.api}/retention`);
    return html`<p class="lead">How long ${context.workspace.name} keeps deleted pages, old revisions and the audit log. Expired data is deleted for good once a day.</p>
      ${settings.legal_hold !== null && html`<div class="note"><p><strong>A legal hold is set, so nothing is deleted</strong>, regardless of the times below.</p></div>`}
      ${settings.purges_after !== '' && html`<p>The times were changed or a legal hold was lifted within the last day. Nothing is deleted before ${time(settings.purges_after)}. Until then, you can still set a longer time.</p>`}
      <form method="post" class="stack" aria-label="Retention times">${hiddenFields({ do: 'change' })}${NAMES.map((name) => field(name, visit.form.get(name) ?? String(settings[name] ?? '')))}
      <p><button class="button main">Save</button></p></form>
      <h2>Legal hold</h2>
      ${await hold(visit, context, settings)}`;
  },
});

function field(name: SettingName, value: string): Html {
  const { label, shortest, what } = SETTINGS[name];
  return html`<div><label>${label} <input type="number" name="${name}" min="${shortest}" max="${LONGEST}" value="${value}" aria-describedby="${name}-what"></label>
    <p class="small" id="${name}-what">${what} At least ${shortest}.</p></div>`;
}

async function hold(visit: Visit, context: SettingsContext, { legal_hold }: Retention): Promise<Content> {
  const may = context.can('workspace:delete');
  const reason = (label: string) =>
    html`<label class="grow">${label} <input name="reason" required maxlength="1000" autocomplete="off"></label>`;
  if (legal_hold === null) {
    return html`<p>While a legal hold is set, no wiki, source or attachment can be deleted for good, and neither the trash nor the times above delete anything. Pages can still be edited and moved to the trash.</p>
      ${
        may
          ? html`<form method="post" class="fields" aria-label="Set a legal hold">${hiddenFields({ do: 'hold' })}${reason('Reason, for the audit log')}<button class="button">Set a legal hold</button></form>`
          : html`<p class="small">An owner can set one.</p>`
      }`;
  }
  const path = `${context.api}/members?user_id=${encodeURIComponent(legal_hold.held_by)}`;
  const [holder] = (await visit.api.get<MembersList>(path)).members;
  return html`<p>Set ${time(legal_hold.held_since)} by ${holder ? holder.display_name || holder.email : 'a former member'}: ${legal_hold.reason}</p>
    ${
      may
        ? disclosure(
            'Lift legal hold',
            'One day later, data past its time in the trash or past the times above is deleted for good.',
            html`<form method="post" class="fields">${hiddenFields({ do: 'lift' })}${reason('Reason, for the audit log')}<button class="button bad">Lift legal hold</button></form>`,
          )
        : html`<p class="small">An owner can lift it.</p>`
    }`;
}
