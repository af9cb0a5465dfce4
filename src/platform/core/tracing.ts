import { AsyncLocalStorage } from 'node:async_hooks';

/** As OpenTelemetry names them: server: a request; client: a call of what is outside; consumer: a job. */
export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';
export type Attributes = Record<string, string | number | boolean>;

/** A step of a trace, from its start until `end`. */
export interface Span {
  trace_id: string;
  /** The header by which another service continues the trace (W3C Trace Context). */
  traceparent: string;
  /** Whether it is sent; what is below one that is not has no spans of its own. */
  isSampled: boolean;
  set(attributes: Attributes): void;
  /** Marks the step as failed. */
  fail(error: unknown): void;
  end(): void;
}

export interface Tracer {
  /** `parent`: a span of this process, or the `traceparent` of another one; one that is invalid counts as none. */
  start(name: string, kind: SpanKind, attributes: Attributes, parent: Span | string | undefined): Span;
}

const current = new AsyncLocalStorage<Span>();
let tracer: Tracer | undefined;

/** Sets where this process sends its spans; undefined: nowhere, and the functions below do nothing. */
export function setTracer(next: Tracer | undefined): void {
  tracer = next;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/** The span in which the caller runs. */
export function currentSpan(): Span | undefined {
  return tracer && current.getStore();
}

/** A span that its caller ends. `traceparent`: of the request that it answers. */
export function startSpan(name: string, kind: SpanKind, traceparent?: string): Span | undefined {
  return tracer?.start(name, kind, {}, traceparent ?? current.getStore());
}

/** Runs `work` in a span, which becomes the parent of those that start in it. */
export function inSpan<T>(span: Span | undefined, work: () => T): T {
  return span ? current.run(span, work) : work();
}

/**
 * Runs `work` in a span of its own, which ends with it. Only a job (`consumer`) begins a trace: statements of timers and the
 * like have no span.
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
