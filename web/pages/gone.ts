import type { GonePage } from '../../src/wiki/pages/gone/schema.ts';
import { Problem } from '../api.ts';
import { type Content, html } from '../html.ts';
import { renderInWiki, time } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { Visit, WebResponse, WebRoute } from '../visit.ts';
import { loadWikiContext, type WikiContext } from '../wiki-context.ts';

const SHOWN = 100;

const DECISIONS = { keep: 'Keep', delete: 'Delete' } as const;
type Decision = keyof typeof DECISIONS;

/** The pages whose files were missing when their folder was synced. Chosen pages are listed again for confirmation. */
export const gone: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/gone',
  handle: async (visit) => renderGone(visit, await loadWikiContext(visit)),
};

export const decideGone: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/gone',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const decision = visit.form.get('do') ?? '';
    const page_ids = [...new Set(visit.form.getAll('page_id'))].slice(0, SHOWN);
    if (!isDecision(decision))
      throw new Problem(400, { message: 'The form is incomplete.', request_id: visit.request.id });
    if (visit.form.get('confirmed') !== 'yes') return renderGone(visit, context, { decision, page_ids });
    for (const page_id of page_ids) await decide(visit, context, decision, page_id);
    return { redirect: context.actionUrl('gone') };
  },
};

function isDecision(word: string): word is Decision {
  return Object.hasOwn(DECISIONS, word);
}

/**
 * Keeps or deletes a page. Ignores 404: another user may have decided since, or the page went to the trash with its
 * parent.
 */
export async function decide({ api }: Visit, context: WikiContext, decision: Decision, page_id: string): Promise<void> {
  const address = `${context.api}/pages/${encodeURIComponent(page_id)}`;
  try {
    await (decision === 'keep' ? api.post(`${address}/keep`) : api.delete(address));
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
  }
}

/** Renders the list, or the `chosen` pages with a confirmation. */
async function renderGone(
  visit: Visit,
  context: WikiContext,
  chosen?: { decision: Decision; page_ids: readonly string[] },
): Promise<WebResponse> {
  const [branches, part] = await Promise.all([
    loadBranches(visit.api, context),
    readPart<GonePage>(visit, `${context.api}/pages/gone?limit=${SHOWN}`),
  ]);
  const asked = part.records.filter(({ page_id }) => chosen?.page_ids.includes(page_id));
  return {
    page: renderInWiki(visit, context, {
      title: 'Missing files',
      tree: renderTree(context, branches),
      main: html`<article><h1>Missing files</h1>
        ${
          chosen && asked.length > 0
            ? question(context, chosen.decision, asked)
            : html`<p>The files of these pages were missing when their folder was synced. The pages stay, marked as stale, until you keep or delete them or the files come back.</p>
              ${chosen && html`<p class="note" role="status">Select pages first.</p>`}
              ${part.records.length === 0 ? html`<p class="empty">${part.isFirst ? 'No pages to review.' : 'No more entries.'}</p>` : choices(context, part.records)}
              ${partLinks(part)}`
        }</article>`,
    }),
  };
}

function choices(context: WikiContext, pages: readonly GonePage[]): Content {
  return html`<form method="post">
    <ul class="list">${pages.map((it) => html`<li><label><input type="checkbox" name="page_id" value="${it.page_id}"> <strong>${it.title}</strong></label> <a href="${context.pageUrl(it.path)}">${it.path}</a>${facts(it)}</li>`)}</ul>
    <p class="row-of-buttons"><button class="button" name="do" value="keep">Keep selected pages</button><button class="button bad" name="do" value="delete">Delete selected pages</button></p></form>`;
}

function facts({ filename, pages_below, updated_at }: GonePage): Content {
  return html`<p class="small">${filename} is missing · changed ${time(updated_at)}${pages_below > 0 && ` · ${countOf(pages_below)} below`}</p>`;
}

function question(context: WikiContext, decision: Decision, pages: readonly GonePage[]): Content {
  const consequence =
    decision === 'keep'
      ? 'The pages stay and are no longer marked as stale. Later syncs do not report them again. A file with the same name that comes back belongs to its page again.'
      : 'The pages move to the trash with all pages below them. You can restore them until the date shown there.';
  return html`<form method="post" action="${context.actionUrl('gone')}">
    <p><strong>${DECISIONS[decision]} ${countOf(pages.length)}?</strong> ${consequence}</p>
    <ul class="list">${pages.map((it) => html`<li><input type="hidden" name="page_id" value="${it.page_id}"><strong>${it.title}</strong> ${it.path}${facts(it)}</li>`)}</ul>
    <input type="hidden" name="confirmed" value="yes">
    <p class="row-of-buttons"><button class="button ${decision === 'delete' ? 'bad' : 'main'}" name="do" value="${decision}">${DECISIONS[decision]} ${countOf(pages.length)}</button>
    <a class="button quiet" href="${context.actionUrl('gone')}">Cancel</a></p></form>`;
}

function countOf(pages: number): string {
  return pages === 1 ? '1 page' : `${pages >= 1_000 ? '1,000 or more' : pages} pages`;
}
