// A site that embeds the widgets. Start it with: node server.js
// IBID_URL: the service. IBID_WORKSPACE: the id of the workspace. IBID_TOKEN: a key or an access token of the user.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const { IBID_URL, IBID_WORKSPACE, IBID_TOKEN, PORT = '3000' } = process.env;
const FILES = {
  '/': ['page.html', 'text/html'],
  '/page.js': ['page.js', 'text/javascript'],
  '/page.css': ['page.css', 'text/css'],
};
const POLICY = [
  "default-src 'none'",
  `script-src 'self' ${IBID_URL}`,
  "style-src 'self'",
  `connect-src 'self' ${IBID_URL}`,
  `img-src ${IBID_URL}`,
].join('; ');

/** Requests a token for one widget on pages of this site. A real site signs its user in first, and uses the key of that user. */
async function widgetToken(widget, origin) {
  const answer = await fetch(`${IBID_URL}/v1/workspaces/${IBID_WORKSPACE}/widget-token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${IBID_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ widget, origin }),
  });
  return { status: answer.status, text: await answer.text() };
}

const server = createServer(async (request, response) => {
  const origin = `http://${request.headers.host}`;
  if (request.method === 'POST' && request.url === '/ibid-token' && request.headers.origin === origin) {
    const { widget } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const { status, text } = await widgetToken(widget, origin);
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(text);
    return;
  }
  // After a payment, the browser returns to the page with a query.
  const [file, type] = FILES[new URL(request.url, origin).pathname] ?? [];
  if (!file) {
    response.writeHead(404).end();
    return;
  }
  const text = await readFile(new URL(file, import.meta.url), 'utf8');
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY });
  response.end(text.replaceAll('https://wiki.example.com', IBID_URL));
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
