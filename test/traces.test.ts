import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '../src/operation/config.ts';
import { openLog } from '../src/operation/service/open-log.ts';
import { startTracing } from '../src/operation/service/tracing.ts';
import { traced } from '../src/platform/core/tracing.ts';
import { tracedFetch } from '../src/platform/providers/identity/traced-fetch.ts';
import { openBucket } from '../src/platform/providers/storage/s3-bucket.ts';
import { readS3Url } from '../src/platform/providers/storage/s3-place.ts';
import { cleanUp } from './clean-up.ts';
import { freePort } from './process.ts';
import { startS3Server } from './s3-server.ts';
import { until } from './until.ts';
import { openWorld } from './world.ts';

/** The parts of OTLP in JSON that the tests read (opentelemetry-proto, trace.proto). */
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  status: { code: number };
}
type Attribute = OtlpSpan['attributes'][number];
interface OtlpRequest {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

const spans: OtlpSpan[] = [];
const resources = new Set<string>();

/** Receives OTLP over HTTP, as a collector does. */
const receiver = createServer(async (request, response) => {
  assert.deepEqual([request.method, request.url], ['POST', '/v1/traces']);
  assert.equal(request.headers['content-type'], 'application/json');
  const { resourceSpans } = (await json(request)) as OtlpRequest;
  for (const { resource, scopeSpans } of resourceSpans) {
    resources.add(String(attribute(resource.attributes, 'service.name')));
    spans.push(...scopeSpans.flatMap((scope) => scope.spans));
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}');
});
const port = await freePort();
await new Promise<void>((resolve) => receiver.listen(port, '127.0.0.1', resolve));
cleanUp(() => void receiver.close());

const s3 = await startS3Server();
cleanUp(() => s3.stop());
const lines: Record<string, unknown>[] = [];
const world = await openWorld(
  { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_TRACES_SAMPLER_ARG: '1', STORAGE_URL: s3.url },
  { log: openLog(readConfig({}), { write: (line) => void lines.push(JSON.parse(line)) }) },
);

function attribute(attributes: Attribute[], name: string): string | number | undefined {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? value?.intValue;
}

/** Waits for a span with this name and returns the spans of its trace. */
async function traceWith(name: string, isIt: (span: OtlpSpan) => boolean = () => true): Promise<OtlpSpan[]> {
  const find = () => spans.find((span) => span.name === name && isIt(span));
  await until(
    `a span ${name}`,
    async () => spans.length,
    () => find() !== undefined,
  );
  const { traceId } = find() as OtlpSpan;
  return spans.filter((span) => span.traceId === traceId);
}

test('a request continues the trace of its traceparent, with spans for its statements, rendering and calls', async () => {
  const owner = await world.owner();
  const trace_id = 'ab'.repeat(16);
  const traceparent = `00-${trace_id}-00f067aa0ba902b7-01`;
  const made = await owner.post(
    `/v1/wikis/${owner.wiki_id}/pages`,
    { title: 'Secret title', markdown: 'Secret text' },
    { traceparent },
  );
  assert.equal(made.status, 201);
  const trace = await traceWith('POST /v1/wikis/:wiki_id/pages', ({ traceId }) => traceId === trace_id);
  const request = trace.find(({ name }) => name.startsWith('POST '));
  assert.ok(request);
  assert.equal(request.parentSpanId, '00f067aa0ba902b7');
  assert.equal(request.kind, 2, 'SPAN_KIND_SERVER');
  assert.equal(attribute(request.attributes, 'http.response.status_code'), 201);
  assert.equal(attribute(request.attributes, 'ibid.request_id'), made.headers.get('x-request-id'));
  const children = trace.filter(({ parentSpanId }) => parentSpanId === request.spanId).map(({ name }) => name);
  assert.ok(children.includes('statement') && children.includes('render'), children.join());
  const summaries = trace.map((span) => attribute(span.attributes, 'db.query.summary')).join();
  assert.match(summaries, /insert into pages.*from api_keys/);
  for (const span of trace) {
    assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
    assert.ok(BigInt(span.startTimeUnixNano) >= BigInt(request.startTimeUnixNano), span.name);
  }
  assert.doesNotMatch(JSON.stringify(trace), /Secret/, 'nothing that a user wrote is in it');
  const line = lines.find(({ request_id }) => request_id === made.headers.get('x-request-id'));
  assert.equal(line?.trace_id, trace_id, 'a line of the log names the trace of its request');
  assert.deepEqual([...resources], ['ibid']);
});

test('an invalid traceparent starts a new trace', async () => {
  const owner = await world.owner();
  const [zeros, trace_id] = ['0'.repeat(32), 'ab'.repeat(16)];
  for (const traceparent of ['x', `00-${zeros}-00f067aa0ba902b7-01`, `ff-${trace_id}-00f067aa0ba902b7-01`]) {
    const seen = spans.length;
    assert.equal((await owner.get('/v1/me', { traceparent })).status, 200);
    const isIt = (one: OtlpSpan) => spans.indexOf(one) >= seen;
    const span = (await traceWith('GET /v1/me', isIt)).find(({ name }) => name === 'GET /v1/me');
    assert.equal(span?.parentSpanId ?? '', '', traceparent);
    assert.ok(span?.traceId !== zeros && span?.traceId !== trace_id);
  }
});

test('calls to an issuer and to a bucket carry the traceparent of their own span', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers.traceparent));
    response.writeHead(404).end();
  });
  const other = await freePort();
  await new Promise<void>((resolve) => server.listen(other, '127.0.0.1', resolve));
  cleanUp(() => void server.close());
  const bucket = openBucket(readS3Url(`s3://key:secret@127.0.0.1:${other}/bucket`));
  await traced('job test', 'consumer', {}, async () => {
    await tracedFetch(`http://127.0.0.1:${other}/keys`);
    assert.equal(await bucket.sizeOf('a'), undefined);
  });
  bucket.close();
  const trace = await traceWith('job test');
  const stepOf = (name: string) => trace.find((span) => span.name === name);
  const steps = [stepOf('fetch'), stepOf('s3 HeadObjectCommand')];
  assert.deepEqual(
    seen,
    steps.map((span) => `00-${span?.traceId}-${span?.spanId}-01`),
  );
});

test('each attempt of a job is a trace, with its statements, rendering and reading of files', async () => {
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n' });
  const trace = await traceWith('job ingest');
  const job = trace.find(({ name }) => name === 'job ingest');
  assert.equal(job?.kind, 5, 'SPAN_KIND_CONSUMER');
  assert.equal(attribute(job?.attributes ?? [], 'ibid.outcome'), 'succeeded');
  const names = new Set(trace.map(({ name }) => name));
  for (const name of ['statement', 'render', 's3 GetObjectCommand']) assert.ok(names.has(name), [...names].join());
  assert.ok(!spans.some(({ name, parentSpanId }) => name === 'statement' && !parentSpanId), 'polling is no trace');
});

test('a line for a terminal has the time, level, message and fields, and strips control characters', () => {
  let written = '';
  const log = openLog(readConfig({ LOG_FORMAT: 'text' }), { write: (text) => void (written += text) });
  log.warn({ request_id: 'req_1', code: 'a b', err: new Error('gone \u001b[31m') }, 'it \u001b[2J failed');
  assert.match(
    written,
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}it .\[2J failed .*request_id=req_1 code="a b"\n {2}Error: gone .\[31m\n/,
  );
  assert.ok(!written.includes('\u001b'));
});

test('an unreachable collector costs only its spans, and does not delay a stop', async () => {
  const stops: (() => Promise<unknown>)[] = [];
  const log = pino({ level: 'silent' });
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` });
  await startTracing(config, log, (stop) => void stops.push(stop));
  assert.equal((await world.anonymous.get('/livez')).status, 200);
  const begun = performance.now();
  for (const stop of stops) await stop();
  assert.ok(performance.now() - begun < 10_000, 'well within the time for a stop');
});
