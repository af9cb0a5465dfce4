import type {
  LargeWorkspace,
  NamedFinding,
  ServiceOverview,
  ShownFailedJob,
} from '../../../src/operation/operator/schema.ts';
import { quotaAmount } from '../../../src/platform/core/quotas.ts';
import { Problem } from '../../api.ts';
import { type Content, type Html, html } from '../../html.ts';
import { time } from '../../layout.ts';
import { actionButton } from '../../settings-forms.ts';
import { HOME, operatorPage, table } from './operator-page.ts';

/** The health of the service, queued and failed jobs, and the heaviest users. */
export const [operatorOverview, retryFailedJob] = operatorPage({
  path: HOME,
  title: 'Operations',
  flashMessages: {
    queued: 'Job queued again, with all its attempts.',
    superseded: 'Job removed because a newer one is queued.',
  },
  actions: {
    async retry({ form, request }, { console, actor }) {
      const result = await console.retryJob(actor, form.get('job_id') ?? '');
      if (result !== undefined) return result;
      throw new Problem(404, {
        error: 'not_found',
        message: 'This failed job no longer exists.',
        request_id: request.id,
      });
    },
  },
  async main({ query }, { console }) {
    const named = query.get('workspace')?.trim() ?? '';
    const [overview, workspaces] = await Promise.all([
      console.overview(),
      console.workspaces(named === '' ? undefined : named),
    ]);
    return html`<p class="lead">The health of this service. No wiki content is shown here.</p>
      ${state(overview)}${jobs(overview)}${failedJobs(overview.failed_jobs)}${spending(overview)}
      ${workspaceList(workspaces, named)}`;
  },
});

const LEVELS: Record<NamedFinding['level'], string> = { problem: 'Problem', warning: 'Warning', ok: 'OK' };

function state({ findings, versions, backup }: ServiceOverview): Html {
  const order = Object.keys(LEVELS);
  const sorted = findings.toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
  return html`<h2 id="state">State</h2>
    <p class="small">Findings of <code>ibid doctor</code>, except checks that contact other servers.</p>
    ${table(
      'State',
      ['', 'Check', 'Finding'],
      sorted.map(
        ({ level, check, seen, advice }) =>
          html`<tr><td>${level === 'ok' ? LEVELS.ok : html`<strong>${LEVELS[level]}</strong>`}</td><td>${check}</td><td>${seen}${advice !== undefined && html`<br><span class="small">${advice}</span>`}</td></tr>`,
      ),
    )}
    <dl class="facts"><dt>Ibid</dt><dd>${versions.ibid}</dd><dt>Node.js</dt><dd>${versions.node}</dd><dt>PostgreSQL</dt><dd>${versions.postgresql}</dd><dt>Schema</dt><dd>${versions.schema}</dd>
      <dt>Last backup</dt><dd>${backup === undefined ? 'none' : html`${backup.outcome}, ${time(backup.ended_at)}`}</dd>
      ${backup !== undefined && backup.made_at !== '' && html`<dt>Latest complete backup</dt><dd><code>${backup.backup_id}</code>, ${time(backup.made_at)}</dd>`}</dl>`;
}

function jobs({ jobs: list }: ServiceOverview): Html {
  return html`<h2 id="jobs">Jobs</h2>
    ${
      list.length === 0
        ? html`<p class="empty">No jobs are queued or running.</p>`
        : table(
            'Jobs',
            ['Job', 'Queued', 'Longest wait', 'Running', 'Failed'],
            list.map(
              ({ name, queued, overdue_seconds, running, failed }) =>
                html`<tr><td>${name}</td><td>${queued}</td><td>${Math.round(overdue_seconds)} s</td><td>${running}</td><td>${failed}</td></tr>`,
            ),
          )
    }`;
}

function failedJobs(list: readonly ShownFailedJob[]): Html {
  return html`<h2 id="failed">Failed jobs</h2>
    ${
      list.length === 0
        ? html`<p class="empty">No failed jobs.</p>`
        : html`<p class="small">Quotations are removed from the errors; <code>ibid jobs</code> shows them in full.</p>
      ${table(
        'Failed jobs',
        ['Job', 'Failed', 'Error', 'Action'],
        list.map(
          ({ job_id, name, workspace_id, failed_at, error }) =>
            html`<tr><td>${name}<br><span class="small"><code>${job_id}</code></span></td><td>${time(failed_at)}</td>
            <td>${error}${workspace_id !== null && html`<br><a class="small" href="${HOME}/workspaces/${workspace_id}">${workspace_id}</a>`}</td>
            <td>${actionButton('retry', { job_id }, html`Retry<span class="sr-only"> ${name} ${job_id}</span>`)}</td></tr>`,
        ),
      )}`
    }`;
}

function spending({ spenders }: ServiceOverview): Html {
  return html`<h2 id="spending">Database usage</h2>
    ${
      spenders.length === 0
        ? html`<p class="empty">No workspace has used the database recently.</p>`
        : html`<p class="small">Connection time in this process, with a half-life of five minutes.</p>
      ${table(
        'Database usage',
        ['Workspace', 'Seconds'],
        spenders.map(
          ({ workspace_id, slug, seconds }) =>
            html`<tr><td>${link(workspace_id, slug)}</td><td>${seconds.toFixed(2)}</td></tr>`,
        ),
      )}`
    }`;
}

function workspaceList(list: readonly LargeWorkspace[], named: string): Html {
  return html`<h2 id="workspaces">Workspaces</h2>
    <form class="fields" action="${HOME}"><label class="grow">Slug or ID <input name="workspace" value="${named}" maxlength="100" autocomplete="off" placeholder="Largest by storage"></label><button class="button">Find</button></form>
    ${
      list.length === 0
        ? html`<p class="empty">${named === '' ? 'No workspaces yet.' : 'No workspace has this slug or ID.'}</p>`
        : table(
            'Workspaces',
            ['Workspace', 'Stored', 'Pages', 'Jobs', 'Controls'],
            list.map(
              ({ workspace_id, slug, bytes, pages, jobs, jobs_are_paused, job_share }) =>
                html`<tr><td>${link(workspace_id, slug)}</td><td>${quotaAmount('bytes', bytes)}</td><td>${quotaAmount('pages', pages)}</td><td>${jobs}</td><td>${notes(jobs_are_paused, job_share)}</td></tr>`,
            ),
          )
    }`;
}

function notes(areJobsPaused: boolean, share: number): Content {
  return [areJobsPaused && 'paused', share > 1 && `share ${share}`].filter(Boolean).join(', ') || '–';
}

function link(workspace_id: string, slug: string): Html {
  return html`<a href="${HOME}/workspaces/${workspace_id}">${slug || workspace_id}</a>`;
}
