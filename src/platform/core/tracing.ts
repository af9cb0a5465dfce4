import { AsyncLocalStorage } from 'node:async_hooks';

/** Span kinds of OpenTelemetry: server for a request, client for a call to another service, consumer for a job. */
export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';
export type Attributes = Record<string, string | number | boolean>;

/** A step of a trace, from its start until `end`. */
export interface Span {
  trace_id: string;
  /** The header that continues the trace in another service (W3C Trace Context). */
  traceparent: string;
  /** Whether the span is exported. An unsampled span has no child spans. */
  isSampled: boolean;
  set(attributes: Attributes): void;
  /** Marks the step as failed. */
  fail(error: unknown): void;
  end(): void;
}

export interface Tracer {
  /** `parent`: a span of this process, or the `traceparent` of another one. An invalid `traceparent` is ignored. */
  start(name: string, kind: SpanKind, attributes: Attributes, parent: Span | string | undefined): Span;
}

const current = new AsyncLocalStorage<Span>();
let tracer: Tracer | undefined;

/** Sets the exporter of this process's spans. With undefined, the functions below do nothing. */
export function setTracer(next: Tracer | undefined): void {
  tracer = next;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

export function currentSpan(): Span | undefined {
  return tracer && current.getStore();
}

/** Starts a span that the caller ends. `traceparent` is the header of the request being answered. */
export function startSpan(name: string, kind: SpanKind, traceparent?: string): Span | undefined {
  return tracer?.start(name, kind, {}, traceparent ?? current.getStore());
}

/** Runs `work` in a span, which becomes the parent of spans started in it. */
export function inSpan<T>(span: Span | undefined, work: () => T): T {
  return span ? current.run(span, work) : work();
}

/**
 * Runs `work` in a new span and ends the span with it. Only a job (`consumer`) starts a trace, so statements of timers
 * have no span.
 */
export function traced<T>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const parent = tracer && current.getStore();
  if (!tracer || !(parent || kind === 'consumer')) return work(undefined);
  if (parent && !parent.isSampled) return work(parent);
  return runIn(tracer.start(name, kind, attributes, parent), work);
}

async function runIn<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await current.run(span, () => work(span));
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}
