/** An error response of Stripe. */
export class StripeProblem extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string;

  constructor(status: number, type: string, code: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
  }

  body(): object {
    return { error: { type: this.type, code: this.code, message: this.message } };
  }
}

export function missing(what: string, id: string): StripeProblem {
  return new StripeProblem(404, 'invalid_request_error', 'resource_missing', `No such ${what}: '${id}'`);
}

export function invalid(message: string, code = 'parameter_invalid'): StripeProblem {
  return new StripeProblem(400, 'invalid_request_error', code, message);
}
