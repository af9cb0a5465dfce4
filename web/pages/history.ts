import type { User } from '../../src/organization/workspaces/schema.ts';
import type { FullPage } from '../../src/wiki/pages/schema.ts';
import type { FullRevision, Revision, RevisionDiff } from '../../src/wiki/revisions/schema.ts';
import { type Content, html, nothing } from '../html.ts';
import { renderInWiki, time } from '../layout.ts';
import { pageText, scriptsFor } from '../page-text.ts';
import { type ListPart, partLinks, readPart } from '../paging.ts';
import { claimWords } from '../people/claim-words.ts';
import { face } from '../people/face.ts';
import { loadPeople } from '../people/load-people.ts';
import { loadBranches, renderTree, trailTo } from '../tree.ts';
import type { Visit, WebRoute } from '../visit.ts';
import { encodePath, loadWikiContext, requestedPath, type WikiContext } from '../wiki-context.ts';

const PAGE_SIZE = 50;

async function loadPage(visit: Visit) {
  const context = await loadWikiContext(visit);
  const page = await visit.api.get<FullPage>(`${context.api}/pages/path/${encodePath(requestedPath(visit))}`);
  return { context, page, api: `${context.api}/pages/${page.page_id}` };
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/**
 * Lists the revisions of a page, newest first; with `revision` shows that revision; with `from` and `to` their
 * difference.
 */
export const history: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/history/*',
  handle: async (visit) => {
    const { context, page, api } = await loadPage(visit);
    const { query } = visit;
    const one = numberIn(query, 'revision');
    const [from, to] = [numberIn(query, 'from'), numberIn(query, 'to')];
    const branches = await loadBranches(visit.api, context, page.page_id);
    const frame = (title: string, main: Content, more: object = {}) => ({
      page: renderInWiki(visit, context, {
        title,
        tree: renderTree(context, branches, page.page_id),
        trail: trailTo(branches, page.page_id),
        main,
        ...more,
      }),
    });
    if (one !== undefined) {
      const revision = await visit.api.get<FullRevision>(`${api}/revisions/${one}`);
      return frame(`${revision.title}, revision ${one}`, renderRevision(context, page, revision), {
        head: html`<base href="${context.pageUrl(page.path)}">`,
        scripts: scriptsFor(revision.html),
      });
    }
    if (from !== undefined && to !== undefined) {
      const diff = await visit.api.get<RevisionDiff>(`${api}/revisions/${from}/diff/${to}`);
      return frame(`Changes to ${page.title}`, renderDiff(context, page, diff));
    }
    const part = await readPart<Revision>(visit, `${api}/revisions?limit=${PAGE_SIZE}&order=newest`);
    const writers = part.records.map(({ created_by }) => created_by);
    const people = await loadPeople(visit.api, context, writers);
    return frame(`${page.title}: history`, revisionList(context, page, part, people));
  },
};

function revisionList(
  context: WikiContext,
  page: FullPage,
  part: ListPart<Revision>,
  people: ReadonlyMap<string, User>,
): Content {
  const revisions = part.records;
  const faceOf = ({ created_by }: Revision) => {
    const writer = people.get(created_by);
    return writer && face(writer, 'small');
  };
  const address = context.actionUrl('history', page.path);
  const isSingle = revisions.length < 2 && part.isFirst && part.next === '';
  return html`<article><h1>History of ${page.title}</h1>
    <form action="${address}">
      ${!isSingle && html`<p><button class="button">Compare selected revisions</button></p>`}
      <div class="scroll" tabindex="0" role="group" aria-label="Revisions"><table class="history"><thead><tr>${!isSingle && html`<th scope="col">From</th><th scope="col">To</th>`}<th scope="col">Revision</th><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th></tr></thead><tbody>
      ${revisions.map(
        (it, i) => html`<tr>${
          !isSingle &&
          html`<td><input type="radio" name="from" value="${it.revision}" aria-label="From revision ${it.revision}"${i === Math.min(1, revisions.length - 1) && html` checked`}></td>
          <td><input type="radio" name="to" value="${it.revision}" aria-label="To revision ${it.revision}"${i === 0 && html` checked`}></td>`
        }<td><a href="${address}?revision=${it.revision}">${it.revision}</a>${it.revision === page.revision && html` <span class="tag">current</span>`}</td>
        <td>${time(it.created_at)}</td><td>${it.claim ? claimWords(it.claim) : html`${faceOf(it)}${it.created_by_name || 'A former member'}`}</td>
        <td>${it.claim ? 'imported' : it.origin === 'compiled' ? 'created from an upload' : 'written'}${it.title !== page.title && `, as “${it.title}”`}</td></tr>`,
      )}</tbody></table></div>
    </form>
    ${partLinks(part, { first: 'Newest', next: 'Older' })}</article>`;
}

function renderRevision(context: WikiContext, page: FullPage, revision: FullRevision): Content {
  const isCurrent = revision.revision === page.revision;
  const address = context.actionUrl('history', page.path);
  return html`<article>
    <div class="note"><p>Revision ${revision.revision}, ${time(revision.created_at)}${isCurrent && ' (current)'}.${revision.claim && html` ${claimWords(revision.claim)}.`}</p>
      <p class="row-of-buttons"><a class="button" href="${address}">All revisions</a>
      ${!isCurrent && html`<a class="button" href="${address}?from=${revision.revision}&amp;to=${page.revision}">Compare with the current revision</a>`}
      ${!isCurrent && context.can('pages:write') && restoreForm(context, page, revision.revision)}</p></div>
    <h1>${revision.title}</h1>
    <div class="prose">${pageText(context, revision)}</div></article>`;
}

function restoreForm(context: WikiContext, page: FullPage, revision: number): Content {
  return html`<form method="post" action="${context.actionUrl('history', page.path)}">
    <input type="hidden" name="revision" value="${revision}"><input type="hidden" name="base_revision" value="${page.revision}">
    <button class="button">Restore this revision</button></form>`;
}

/** Restores an old text as a new revision; the revisions in between stay in the history. */
export const restoreRevision: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/history/*',
  handle: async (visit) => {
    const { context, page, api } = await loadPage(visit);
    const revision = numberIn(visit.form, 'revision') ?? 0;
    const base_revision = numberIn(visit.form, 'base_revision');
    await visit.api.post(`${api}/revisions/${revision}/restore`, { base_revision });
    return { redirect: context.pageUrl(page.path) };
  },
};

function renderDiff(context: WikiContext, page: FullPage, diff: RevisionDiff): Content {
  const { from_revision, to_revision, added, removed, from_title, to_title } = diff;
  const address = context.actionUrl('history', page.path);
  return html`<article><h1>Changes to ${page.title}</h1>
    <p>From revision <a href="${address}?revision=${from_revision}">${from_revision}</a> to <a href="${address}?revision=${to_revision}">${to_revision}</a>:
      ${added} ${added === 1 ? 'line' : 'lines'} added, ${removed} removed. <a href="${address}">All revisions</a></p>
    ${from_title !== to_title && html`<p>The title changed from “${from_title}” to “${to_title}”.</p>`}
    ${diffTable(diff)}</article>`;
}

/** Renders a unified diff with the changed words marked. */
export function diffTable({ hunks, coarse, truncated }: Pick<RevisionDiff, 'hunks' | 'coarse' | 'truncated'>): Content {
  if (hunks.length === 0) return html`<p class="empty">The texts are identical.</p>`;
  return html`${coarse && html`<p class="note">The texts differ too much to compare. Everything between their identical beginning and end is shown as replaced.</p>`}
    ${truncated && html`<p class="note">Only some of the changes are shown.</p>`}
    ${hunks.map((hunk) => {
      let from = hunk.from_line;
      let to = hunk.to_line;
      return html`<div class="scroll" tabindex="0" role="group" aria-label="Changes from line ${hunk.to_line}"><table class="diff"><tbody>${hunk.lines.map(
        (line) => {
          const numbers = line.kind === 'added' ? ['', to++] : line.kind === 'removed' ? [from++, ''] : [from++, to++];
          const sign = line.kind === 'added' ? '+' : line.kind === 'removed' ? '−' : ' ';
          const text =
            line.segments.length === 0
              ? line.text
              : line.segments.map(({ kind, text }) =>
                  kind === 'same' ? text : kind === 'added' ? html`<ins>${text}</ins>` : html`<del>${text}</del>`,
                );
          return html`<tr class="${line.kind}"><td class="no">${numbers[0]}</td><td class="no">${numbers[1]}</td><td class="sign">${sign}${
            line.kind === 'context' ? nothing : html`<span class="sr-only">${line.kind}</span>`
          }</td><td class="line">${text}</td></tr>`;
        },
      )}</tbody></table></div>`;
    })}`;
}
