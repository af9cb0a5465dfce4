/** A page that is edited repeatedly. */
export interface Editor {
  /** Saves the page with another sentence in its middle. Throws an Error for anything but a success. */
  edit(): Promise<void>;
}

/** Reads the page at `path`, so that an edit needs no read before it. */
export async function openEditor(port: number, { path, token }: { path: string; token: string }): Promise<Editor> {
  const url = `http://127.0.0.1:${port}${path}`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ask = async (request: RequestInit): Promise<{ markdown: string; revision: number }> => {
    const answer = await fetch(url, { ...request, headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
  let { markdown, revision } = await ask({});
  const paragraphs = markdown.split('\n\n');
  const middle = paragraphs.length >> 1;
  let edits = 0;
  return {
    async edit() {
      edits += 1;
      markdown = paragraphs.toSpliced(middle, 0, `This is sentence ${edits} of the bench.`).join('\n\n');
      ({ revision } = await ask({ method: 'PATCH', body: JSON.stringify({ markdown, base_revision: revision }) }));
    },
  };
}
