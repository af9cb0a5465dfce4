import type { FastifyInstance } from 'fastify';
import { inSpan, isTracing, type Span, startSpan } from '../core/tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request; undefined where it is not traced. */
    span: Span | undefined;
  }
}

/** Adds a span for each request, in the trace of its `traceparent`. Without a tracer nothing is added. */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return;
  app.decorateRequest('span', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    // The route's path: what a client wrote into the URL does not belong in a trace.
    const route = request.routeOptions.url ?? '';
    const { traceparent } = request.headers;
    const given = typeof traceparent === 'string' ? traceparent : undefined;
    request.span = startSpan(`${request.method} ${route}`.trimEnd(), 'server', given);
    request.span?.set({ 'http.request.method': request.method, 'http.route': route, 'ibid.request_id': request.id });
    inSpan(request.span, done);
  });
  // Reading a body has left the context.
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
