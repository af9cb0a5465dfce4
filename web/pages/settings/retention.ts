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
    label: 'Deleted pages, days',
    shortest: 7,
    what: 'Pages in the trash are deleted for good with their history and attachments after this number of days there. Empty: 30 days.',
  },
  revision_days: {
    label: 'Old revisions of pages, days',
    shortest: 30,
    what: 'A revision is deleted for good this number of days after another one has replaced it. The current text of a page always stays, as do the last one that an upload made and those that unsaved changes of a user are based on. Empty: all revisions are kept.',
  },
  audit_days: {
    label: 'Audit log, days',
    shortest: 90,
    what: 'Records are deleted for good after this number of days, except those of changes here and of legal holds. Empty: all records are kept.',
  },
};
const NAMES = Object.keys(SETTINGS) as SettingName[];
const LONGEST = 3_650;

const reasonOf = ({ form }: Visit) => ({ reason: form.get('reason') ?? '' });

export const [retention, changeRetention] = settingsPage({
  path: '/:workspace/-/retention',
  title: 'Retention',
  flashMessages: {
    changed: 'The times are set. Nothing is deleted by them before tomorrow.',
    held: 'The legal hold is set: from now on nothing is deleted for good.',
    lifted: 'The legal hold is lifted. Nothing is deleted before tomorrow.',
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
    return html`<p class="lead">How long ${context.workspace.name} keeps what is not used any more. Once a day what is past is deleted for good.</p>
      ${settings.legal_hold !== null && html`<div class="note"><p><strong>Under a legal hold nothing is deleted</strong>, whatever the times below say.</p></div>`}
      ${settings.purges_after !== '' && html`<p>The times were changed, or a hold was lifted, within the last day. Nothing is deleted before ${time(settings.purges_after)}: until then a longer time saves it.</p>`}
      <form method="post" class="stack" aria-label="Times">${hiddenFields({ do: 'change' })}${NAMES.map((name) => field(name, visit.form.get(name) ?? String(settings[name] ?? '')))}
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
    return html`<p>While it is set, no wiki, source or attachment can be deleted for good, and neither the trash nor the times above delete anything. Pages can still be written, and go to the trash.</p>
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
            'Lift the legal hold',
            'A day later, what the trash and the times above say is deleted for good.',
            html`<form method="post" class="fields">${hiddenFields({ do: 'lift' })}${reason('Reason, for the audit log')}<button class="button bad">Lift it</button></form>`,
          )
        : html`<p class="small">An owner can lift it.</p>`
    }`;
}
