import assert from 'node:assert/strict';
import { type Answer, type Owner, waitForUpload } from './world.ts';

export type Files = Record<string, string | Uint8Array>;

interface ListedPage {
  page_id: string;
  path: string;
  title: string;
  stale: boolean;
}

interface TreePage {
  page_id: string;
  parent_page_id: string;
  slug: string;
}

/** Creates a wiki of this owner and returns functions that upload folders to it. */
export async function newFolderWiki(owner: Owner) {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Folders' });
  const wiki_id: string = body.wiki_id;
  const at = `/v1/wikis/${wiki_id}`;
  const page = async (path: string): Promise<Answer['body']> => (await owner.get(`${at}/pages/path/${path}`)).body;
  const begin = async (query: string, files: Files): Promise<string> => {
    const form = new FormData();
    for (const [name, content] of Object.entries(files)) form.append('files', new Blob([content as string]), name);
    const made = await owner.send('POST', `${at}/uploads${query}`, { body: form });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.upload_id;
  };
  const ended = async (upload_id: string): Promise<Answer['body']> =>
    (await waitForUpload(owner, wiki_id, upload_id)).body;
  const pages = async (): Promise<ListedPage[]> => (await owner.get(`${at}/pages?limit=500`)).body;
  return {
    wiki_id,
    at,
    page,
    pages,
    ended,
    begin: (files: Files) => begin('?mode=sync', files),
    add: async (files: Files) => ended(await begin('', files)),
    sync: async (files: Files) => ended(await begin('?mode=sync', files)),
    edit: async (path: string, markdown: string) => {
      const { page_id, revision } = await page(path);
      const { status, body } = await owner.patch(`${at}/pages/${page_id}`, { base_revision: revision, markdown });
      assert.equal(status, 200, JSON.stringify(body));
    },
    ids: (paths: readonly string[]): Promise<string[]> =>
      Promise.all(paths.map(async (path) => (await page(path)).page_id)),
    stale: async () => (await pages()).flatMap(({ stale, path }) => (stale ? path : [])).sort(),
    /** Returns the paths of all pages, in the order of the tree. */
    tree: async (): Promise<string[]> => {
      const { body } = await owner.get(`${at}/tree`);
      const below = Map.groupBy(body as TreePage[], ({ parent_page_id }) => parent_page_id);
      const walk = (parent: string, path: string): string[] =>
        (below.get(parent) ?? []).flatMap(({ page_id, slug }) => [path + slug, ...walk(page_id, `${path}${slug}/`)]);
      return walk('', '');
    },
    paths: async () => (await pages()).map(({ path }) => path).sort(),
  };
}
