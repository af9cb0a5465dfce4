import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StripeAccount } from './account.ts';
import { decodeForm } from './decode-form.ts';
import { customerJson, eventJson, invoiceJson, sessionJson, subscriptionJson } from './objects.ts';
import { StripeProblem } from './problem.ts';
import { answerRequest } from './routes.ts';
import { openWebhooks, type Webhooks } from './webhooks.ts';

export const STRIPE_KEY = 'sk_test_stand_in';
export const WEBHOOK_SECRET = 'whsec_stand_in';

/** What happens to a request instead of an answer: `lost`: it is carried out, and the connection is cut. */
export type Fault = 429 | 500 | 'cut' | 'lost';

export interface StripeServer {
  url: string;
  account: StripeAccount;
  webhooks: Webhooks;
  /** The method and path of every request that was carried out. */
  requests: string[];
  /** Decides about each request. */
  setFaults(faultOf: (method: string, path: string) => Fault | undefined): void;
  /** Where events go: the address of the service. */
  sendEventsTo(address: string): void;
  stop(): Promise<void>;
}

interface StoredAnswer {
  fingerprint: string;
  status: number;
  text: string;
}

/** A stand-in for Stripe on a loopback port: its protocol and its state, as far as the service uses them. */
export async function startStripeServer(): Promise<StripeServer> {
  const requests: string[] = [];
  const answers = new Map<string, StoredAnswer>();
  let faultOf: (method: string, path: string) => Fault | undefined = () => undefined;
  let address: string | undefined;
  let url = '';
  const webhooks = openWebhooks(WEBHOOK_SECRET, () => address);
  const account: StripeAccount = new StripeAccount((type, kind, id) => {
    const object = describe(account, url, kind, id);
    webhooks.add(type, (event_id) => eventJson(event_id, type, object, account.now()));
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: target = '/' } = request;
    const { pathname, search } = new URL(target, url);
    const body = await readText(request);
    if (pathname.startsWith('/pay/') || pathname.startsWith('/portal/')) {
      return answerPage(account, method, pathname, response);
    }
    const fault = faultOf(method, pathname);
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
      answer = { fingerprint, status: 400, text };
    }
    if (!answer) {
      requests.push(`${method} ${pathname}`);
      answer = {
        fingerprint,
        ...carryOut(account, url, request, pathname, decodeForm(method === 'GET' ? search.slice(1) : body)),
      };
      // Stripe keeps no answer of a request that was refused before it began.
      if (key !== undefined && answer.status < 400) answers.set(key, answer);
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
    requests,
    setFaults: (value) => void (faultOf = value),
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

/** The pages that customers are sent to: a checkout with a button, and a portal that leads back. */
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
