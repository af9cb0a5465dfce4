import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Send } from '../keep-alive.ts';
import { StripeAccount } from './account.ts';
import { decodeForm } from './decode-form.ts';
import { customerJson, eventJson, invoiceJson, sessionJson, subscriptionJson } from './objects.ts';
import { StripeProblem } from './problem.ts';
import { answerRequest } from './routes.ts';
import { STRIPE_KEY, WEBHOOK_SECRET } from './secrets.ts';
import { openWebhooks, type Webhooks } from './webhooks.ts';

export { STRIPE_KEY, WEBHOOK_SECRET } from './secrets.ts';

/** A fault of a request. `lost`: the request is carried out, but the connection is cut before the answer. */
export type Fault = 429 | 500 | 'cut' | 'lost';

type FaultOf = (method: string, path: string, workspace_id: string) => Fault | undefined;

export interface StripeServer {
  url: string;
  account: StripeAccount;
  webhooks: Webhooks;
  /**
   * Sets a function that picks the fault of each request. `workspace_id`: the workspace of its customer, or "" without
   * one.
   */
  setFaults(faultOf: FaultOf): void;
  /** Deletes a workspace's customers, their objects, and the stored answers of its idempotency keys. */
  forget(workspace_id: string): void;
  /** Sets the address of the service, which receives the events. */
  sendEventsTo(address: string): void;
  stop(): Promise<void>;
}

/** `send`: sends events; `fetch` by default. */
interface StripeServerOptions {
  send?: Send;
}

interface StoredAnswer {
  workspace_id: string;
  fingerprint: string;
  status: number;
  text: string;
}

/**
 * Starts a stand-in for Stripe on a loopback port. It implements the parts of the protocol and the state that the
 * service uses.
 */
export async function startStripeServer({ send }: StripeServerOptions = {}): Promise<StripeServer> {
  const answers = new Map<string, StoredAnswer>();
  let faultOf: FaultOf = () => undefined;
  let address: string | undefined;
  let url = '';
  // An endpoint registered by a request gets only its event types, at the origin of its URL.
  const webhooks = openWebhooks(
    WEBHOOK_SECRET,
    () => address ?? account.endpoint?.url.replace(/\/v1\/webhooks\/stripe$/, ''),
    send,
  );
  const account: StripeAccount = new StripeAccount((type, kind, id) => {
    if (account.endpoint && !account.endpoint.enabled_events.includes(type)) return;
    const object = describe(account, url, kind, id);
    webhooks.add(type, account.workspaceIn(id), (event_id) => eventJson(event_id, type, object, account.now()));
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: target = '/' } = request;
    const { pathname, search } = new URL(target, url);
    const body = await readText(request);
    if (pathname.startsWith('/pay/') || pathname.startsWith('/portal/')) {
      return answerPage(account, method, pathname, response);
    }
    const workspace_id = account.workspaceIn(`${target} ${body}`);
    const fault = faultOf(method, pathname, workspace_id);
    if (fault === 'cut') return void request.socket.destroy();
    if (typeof fault === 'number') return reply(response, fault, JSON.stringify(errorOf(fault)));
    const key = request.headers['idempotency-key'] as string | undefined;
    const stored = answers.get(key ?? '');
    const fingerprint = `${method} ${pathname} ${body}`;
    let answer = stored;
    if (stored && stored.fingerprint !== fingerprint) {
      const text = JSON.stringify({
        error: { type: 'idempotency_error', message: 'Keys can only be used with the same parameters.' },
      });
      answer = { workspace_id, fingerprint, status: 400, text };
    }
    if (!answer) {
      answer = {
        ...{ workspace_id, fingerprint },
        ...carryOut(account, url, request, pathname, decodeForm(method === 'GET' ? search.slice(1) : body)),
      };
      // Stripe stores the answer to a declined payment too, but no refusal of an invalid request.
      if (key !== undefined && (answer.status < 400 || answer.status === 402)) answers.set(key, answer);
    }
    if (fault === 'lost') return void request.socket.destroy();
    reply(response, answer.status, answer.text);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) =>
      reply(response, 500, JSON.stringify({ error: { message: String(error) } })),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    account,
    webhooks,
    setFaults: (value) => void (faultOf = value),
    forget(workspace_id) {
      for (const { id } of account.customersOf(workspace_id)) account.forget(id);
      for (const [key, answer] of answers) if (answer.workspace_id === workspace_id) answers.delete(key);
      webhooks.forget(workspace_id);
    },
    sendEventsTo: (value) => void (address = value),
    async stop() {
      await webhooks.idle();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function carryOut(
  account: StripeAccount,
  url: string,
  request: IncomingMessage,
  path: string,
  params: ReturnType<typeof decodeForm>,
) {
  try {
    if (request.headers.authorization !== `Bearer ${STRIPE_KEY}`) {
      throw new StripeProblem(401, 'invalid_request_error', 'api_key_invalid', 'Invalid API Key provided');
    }
    const json = answerRequest(account, url, request.method ?? 'GET', path, params);
    return { status: 200, text: JSON.stringify(json) };
  } catch (error) {
    if (!(error instanceof StripeProblem)) throw error;
    return { status: error.status, text: JSON.stringify(error.body()) };
  }
}

function describe(account: StripeAccount, url: string, kind: string, id: string): object {
  if (kind === 'customer') return customerJson(account.customer(id));
  if (kind === 'invoice') return invoiceJson(account.invoice(id));
  if (kind === 'session') return sessionJson(account.session(id), `${url}/pay/${id}`, null);
  return subscriptionJson(account.subscription(id), null);
}

/** Answers with a page for customers: a checkout with a button, or the portal. */
function answerPage(account: StripeAccount, method: string, path: string, response: ServerResponse): void {
  const session = account.sessions.get(path.split('/')[2] ?? '');
  if (!session) return reply(response, 200, '<!doctype html><title>Portal</title><h1>Portal</h1>', 'text/html');
  if (method !== 'POST') {
    const page = `<!doctype html><title>Checkout</title><h1>${session.quantity} × ${session.price.lookup_key}</h1>
<form method="post"><button>Pay</button></form><a href="${session.cancel_url.replaceAll('&', '&amp;')}">Back</a>`;
    return reply(response, 200, page, 'text/html');
  }
  try {
    account.complete(session.id);
  } catch (error) {
    if (!(error instanceof StripeProblem)) throw error;
    return reply(response, error.status, error.message, 'text/plain');
  }
  response.writeHead(303, { location: session.success_url }).end();
}

function errorOf(status: number): object {
  const type = status === 429 ? 'rate_limit_error' : 'api_error';
  return { error: { type, message: status === 429 ? 'Too many requests' : 'An unknown error occurred' } };
}

function reply(response: ServerResponse, status: number, text: string, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type, 'request-id': 'req_stand_in' }).end(text);
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
