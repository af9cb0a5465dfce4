import type { FastifyInstance } from 'fastify';
import { inSpan, isTracing, type Span, startSpan } from '../core/tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request; undefined if it is not traced. */
    span: Span | undefined;
  }
}

/** Adds a span for each request, within the trace of its `traceparent`. Does nothing without a tracer. */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return;
  app.decorateRequest('span', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    // The path of the route, because client input in the URL must not be in a trace.
    const route = request.routeOptions.url ?? '';
    const { traceparent } = request.headers;
    const given = typeof traceparent === 'string' ? traceparent : undefined;
    request.span = startSpan(`${request.method} ${route}`.trimEnd(), 'server', given);
    request.span?.set({ 'http.request.method': request.method, 'http.route': route, 'ibid.request_id': request.id });
    inSpan(request.span, done);
  });
  // Reading the body has lost the async context.
  app.addHook('preHandler', (request, _reply, done) => inSpan(request.span, done));
  app.addHook('onResponse', (request, reply, done) => {
    request.span?.set({ 'http.response.status_code': reply.statusCode });
    if (reply.statusCode >= 500) request.span?.fail({ code: String(reply.statusCode) });
    request.span?.end();
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    request.span?.fail({ code: 'aborted' });
    request.span?.end();
    done();
  });
}
