import type { LimitChanges, WorkspaceOverview, WorkspaceUsage } from '../../../src/operation/operator/schema.ts';
import { QUOTA_NAMES, type QuotaName, quotaAmount, readQuota } from '../../../src/platform/core/quotas.ts';
import { Problem } from '../../api.ts';
import { type Html, html } from '../../html.ts';
import { actionButton, disclosure, hiddenFields } from '../../settings-forms.ts';
import type { Visit } from '../../visit.ts';
import { notFound } from '../../wiki-context.ts';
import { HOME, type OperatorContext, operatorPage } from './operator-page.ts';

/** The usage and limits of a workspace, and actions against excessive load. */
export const [operatedWorkspace, changeOperatedWorkspace] = operatorPage({
  path: `${HOME}/workspaces/:workspace_id`,
  title: 'Workspace',
  flashMessages: {
    limits: 'Limits changed.',
    same: 'Nothing was changed: these limits are already set.',
    paused: 'Jobs paused until you resume them. Running jobs continue.',
    resumed: 'Jobs resumed.',
    share: 'Job share changed.',
    out: 'All members are signed out. Earlier widget tokens no longer work.',
    revoked: 'All members are signed out. Their API keys and the keys of the workspace are revoked.',
  },
  actions: {
    async limits(visit, context) {
      const { workspace, usage } = await found(visit, context);
      const changes = readChanges(visit, usage);
      if (Object.keys(changes).length === 0) return 'same';
      await context.console.changeLimits(context.actor, workspace.workspace_id, changes);
      return 'limits';
    },
    pause: (visit, context) => pause(visit, context, true),
    resume: (visit, context) => pause(visit, context, false),
    async share(visit, context) {
      const { workspace } = await found(visit, context);
      const text = visit.form.get('job_share') ?? '';
      if (!/^[1-9]\d?$|^100$/.test(text)) throw invalid(visit, 'The share must be a whole number from 1 to 100.');
      await context.console.changeShare(context.actor, workspace.workspace_id, Number(text));
      return 'share';
    },
    async 'sign-out'(visit, context) {
      const { workspace } = await found(visit, context);
      const withKeys = visit.form.get('keys') === 'yes';
      await context.console.signOutMembers(context.actor, workspace.workspace_id, withKeys);
      return withKeys ? 'revoked' : 'out';
    },
  },
  async main(visit, context) {
    const { workspace, usage } = await found(visit, context);
    const { slug, workspace_id, jobs_are_paused, job_share } = workspace;
    return html`<p class="lead"><strong>${slug}</strong> <code>${workspace_id}</code></p>
      <p class="small">Changes made here are recorded in the audit log of the workspace.</p>
      <h2>Limits</h2>${limitsForm(usage)}
      <h2>Jobs</h2>
      <p>${jobs_are_paused ? 'Uploads, exports, imports and reindexing are paused.' : 'Jobs are not paused.'}</p>
      ${actionButton(jobs_are_paused ? 'resume' : 'pause', {}, jobs_are_paused ? 'Resume jobs' : 'Pause jobs')}
      <form method="post" class="fields" aria-label="Job share">${hiddenFields({ do: 'share' })}
        <label>Jobs that can run before idle workspaces take precedence <input name="job_share" inputmode="numeric" required pattern="[0-9]{1,3}" value="${job_share}"></label><button class="button">Change share</button></form>
      <h2>After a leak</h2>
      ${disclosure('Sign out members', 'Ends the sessions of all members, in all their workspaces, and invalidates earlier widget tokens.', actionButton('sign-out', {}, 'Sign out members', 'bad'))}
      ${disclosure('Sign out members and revoke keys', 'Signs out all members, as above, and revokes the API keys of the workspace and the personal keys of its members. This cannot be undone.', actionButton('sign-out', { keys: 'yes' }, 'Sign out and revoke keys', 'bad'))}
      <p><a href="${HOME}#workspaces">All workspaces</a></p>`;
  },
});

/** Loads a workspace. Throws Problem 404. */
async function found(visit: Visit, { console }: OperatorContext): Promise<WorkspaceOverview> {
  const overview = await console.workspace(visit.params.workspace_id ?? '');
  if (!overview) throw notFound(visit, 'workspace');
  return overview;
}

async function pause(visit: Visit, context: OperatorContext, arePaused: boolean): Promise<string> {
  const { workspace } = await found(visit, context);
  await context.console.pauseJobs(context.actor, workspace.workspace_id, arePaused);
  return arePaused ? 'paused' : 'resumed';
}

function invalid({ request }: Visit, message: string): Problem {
  return new Problem(422, { error: 'validation_failed', message, request_id: request.id });
}

/** Returns the limit as typed in the field: "" for the limit of the plan. */
function limitText({ is_own, allowed }: WorkspaceUsage): string {
  if (!is_own) return '';
  return allowed === null ? 'unlimited' : String(allowed);
}

/** Returns the limits in the form that differ from the current limits. Throws Problem 422. */
function readChanges(visit: Visit, usage: readonly WorkspaceUsage[]): LimitChanges {
  const changes: LimitChanges = {};
  for (const name of QUOTA_NAMES) {
    const text = visit.form.get(name)?.trim();
    const before = usage.find((it) => it.name === name);
    if (text === undefined || !before || text === limitText(before)) continue;
    try {
      changes[name] = text === '' ? 'plan' : readQuota(name, text);
    } catch (error) {
      throw invalid(
        visit,
        `“${LABELS[name]}” takes ${(error as Error).message}; leave it empty for the limit of the plan.`,
      );
    }
  }
  return changes;
}

const LABELS: Record<QuotaName, string> = {
  bytes: 'Storage',
  pages: 'Pages',
  files: 'Files being uploaded',
  wikis: 'Wikis',
  invitations: 'Pending invitations',
  keys: 'API keys',
  jobs: 'Jobs',
};

function limitsForm(usage: readonly WorkspaceUsage[]): Html {
  return html`<p class="small">A number, a size such as 10GB for storage, or unlimited. Leave empty for the limit of the plan.</p>
    <form method="post" aria-label="Limits">${hiddenFields({ do: 'limits' })}
    <div class="fields">${usage.map(
      (it) =>
        html`<label>${LABELS[it.name]} <span class="hint">${quotaAmount(it.name, it.used)} of ${it.allowed === null ? 'unlimited' : quotaAmount(it.name, it.allowed)}</span>
        <input name="${it.name}" maxlength="20" autocomplete="off" placeholder="plan limit" value="${limitText(it)}"></label>`,
    )}</div>
    <button class="button main">Change limits</button></form>`;
}
