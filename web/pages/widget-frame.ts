import { renderDocument } from '../document.ts';
import { html } from '../html.ts';
import type { Visit, WebRoute } from '../visit.ts';
import { notFound } from '../wiki-context.ts';

const ELEMENTS = new Map([
  ['profile', html`<ibid-profile></ibid-profile>`],
  ['enterprise', html`<ibid-enterprise></ibid-enterprise>`],
  ['developers', html`<ibid-developers></ibid-developers>`],
]);

/**
 * A widget in a frame, for pages that run no script of ours. The token is in the fragment of the address, which is not
 * sent to servers. Only sites that the workspace allows can frame it.
 */
export const widgetFrame: WebRoute = {
  method: 'GET',
  path: '/-/widgets/:workspace_id/:widget',
  handle: async (visit) => {
    const element = ELEMENTS.get(visit.params.widget ?? '');
    if (!element) throw notFound(visit, 'widget');
    const framedBy = await embeddingOrigin(visit);
    return {
      ...(framedBy !== undefined && { framedBy }),
      page: renderDocument(visit, {
        title: 'Ibid',
        kind: 'framed',
        scripts: ['widgets.js', 'frame.js'],
        body: html`<main>${element}<noscript><p>This widget needs JavaScript.</p></noscript></main>`,
      }),
    };
  },
};

/** Returns the origin of the embedding page, from the Referer, if the workspace allows it; otherwise undefined. */
async function embeddingOrigin({ request, api, params }: Visit): Promise<string | undefined> {
  const { referer } = request.headers;
  if (referer === undefined || !URL.canParse(referer)) return undefined;
  const { origin } = new URL(referer);
  if (origin.length > 300 || !/^https?:\/\/[\w.[\]:-]+$/.test(origin)) return undefined;
  const query = new URLSearchParams({ workspace: (params.workspace_id ?? '').slice(0, 64), origin });
  const { allowed } = await api.get<{ allowed: boolean }>(`/v1/widget-frames?${query}`);
  return allowed ? origin : undefined;
}
