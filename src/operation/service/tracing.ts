import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { Context, Span as OtelSpan } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { type Span, setTracer, type Tracer } from '../../platform/core/tracing.ts';
import type { Config } from '../config.ts';
import type { OnStop } from './hooks.ts';
import { VERSION } from './version.ts';

/** How long unsent spans may delay a stop. */
const FLUSH_MS = 3_000;
/**
 * Maximum number of queued spans, sent every second. Further spans are dropped, so that an unavailable receiver costs
 * nothing.
 */
const WAITING_MAX = 8_192;
const BATCH = 1_024;
const EVERY_MS = 1_000;

/** The traceparent header of W3C Trace Context; later versions may append fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/**
 * Sends traces to OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP), if set. Loads the packages only then. Throws StartError
 * if they are not installed.
 */
export async function startTracing(config: Config, log: Logger, onStop: OnStop): Promise<void> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share } = config;
  if (endpoint === undefined) return;
  const { api, sdk, exporter, resources } = await loadPackages();
  const report = (message: string, ...details: unknown[]) => log.warn({ details }, `traces: ${message}`);
  const unused = () => undefined;
  api.diag.setLogger(
    { error: report, warn: report, info: unused, debug: unused, verbose: unused },
    api.DiagLogLevel.WARN,
  );
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({
      'service.name': process.env.OTEL_SERVICE_NAME || 'ibid',
      'service.version': VERSION,
      'process.pid': process.pid,
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(share) }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: new exporter.OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: FLUSH_MS }),
        maxQueueSize: WAITING_MAX,
        maxExportBatchSize: BATCH,
        scheduledDelayMillis: EVERY_MS,
      }),
    ],
  });
  setTracer(tracerOf(api, provider.getTracer('ibid', VERSION)));
  onStop(async () => {
    setTracer(undefined);
    await provider.shutdown().catch((err: unknown) => log.warn({ err }, 'the last spans could not be sent'));
  });
}

async function loadPackages() {
  try {
    const [api, sdk, exporter, resources] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
    return { api, sdk, exporter, resources };
  } catch (cause) {
    throw new StartError(
      'OTEL_EXPORTER_OTLP_ENDPOINT needs packages that are not installed: install the optional peerDependencies in package.json, or leave the option empty.',
      { cause },
    );
  }
}

type Api = Awaited<ReturnType<typeof loadPackages>>['api'];

function tracerOf(api: Api, tracer: import('@opentelemetry/api').Tracer): Tracer {
  const KINDS = {
    internal: api.SpanKind.INTERNAL,
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    consumer: api.SpanKind.CONSUMER,
  };
  const own = new WeakMap<Span, OtelSpan>();

  function contextOf(parent: Span | string | undefined): Context {
    if (parent === undefined) return api.ROOT_CONTEXT;
    if (typeof parent !== 'string') {
      const span = own.get(parent);
      return span ? api.trace.setSpan(api.ROOT_CONTEXT, span) : api.ROOT_CONTEXT;
    }
    const [, traceId, spanId, flags = '00'] = TRACEPARENT.exec(parent) ?? [];
    if (traceId === undefined || spanId === undefined) return api.ROOT_CONTEXT;
    const remote = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
    return api.trace.setSpanContext(api.ROOT_CONTEXT, remote);
  }

  return {
    start(name, kind, attributes, parent) {
      const otel = tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent));
      const { traceId, spanId, traceFlags } = otel.spanContext();
      const span: Span = {
        trace_id: traceId,
        traceparent: `00-${traceId}-${spanId}-0${traceFlags}`,
        isSampled: otel.isRecording(),
        set: (more) => void otel.setAttributes(more),
        fail(error) {
          // Omit the message, which may contain text of a user.
          const { code, name: type } = error as { code?: unknown; name?: unknown };
          otel.setAttribute('error.type', String(code ?? type ?? 'error'));
          otel.setStatus({ code: api.SpanStatusCode.ERROR });
        },
        end() {
          if (otel.isRecording()) otel.end();
        },
      };
      own.set(span, otel);
      return span;
    },
  };
}
