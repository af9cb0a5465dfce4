import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv, type ErrorObject } from 'ajv';
import { type Static, type TInteger, type TNull, type TOptional, type TUnion, Type } from 'typebox';
import { BUILT } from '../../platform/core/package/package-files.ts';
import { QUOTA_NAMES, type QuotaName } from '../../platform/core/quotas.ts';
import { isCurrency } from '../../platform/providers/payments/money.ts';
import type { Plan } from '../../platform/providers/payments/payments.ts';

export type { Plan } from '../../platform/providers/payments/payments.ts';

/** Schema of a plan in the catalogue file; optional fields have defaults. */
const PlanSchema = Type.Object(
  {
    plan_id: Type.String({ pattern: '^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$' }),
    name: Type.String({ minLength: 1, maxLength: 100 }),
    description: Type.String({ maxLength: 500, default: '' }),
    interval: Type.Union([Type.Literal('month'), Type.Literal('year'), Type.Null()]),
    currency: Type.String(),
    unit_amount: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
    seats: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    unlimited: Type.Boolean({ default: false }),
    overage_allowed: Type.Boolean({ default: false }),
    checkout: Type.Union([Type.Literal('none'), Type.Literal('subscription'), Type.Literal('contact_sales')]),
    proration_behavior: Type.Union(
      [Type.Literal('create_prorations'), Type.Literal('always_invoice'), Type.Literal('none')],
      { default: 'create_prorations' },
    ),
    grace_days: Type.Integer({ minimum: 0, maximum: 365, default: 14 }),
    limits: Type.Optional(
      Type.Object(
        Object.fromEntries(
          QUOTA_NAMES.map((name) => [
            name,
            Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()])),
          ]),
        ) as { [Name in QuotaName]: TOptional<TUnion<[TInteger, TNull]>> },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

const CatalogueSchema = Type.Object(
  { plans: Type.Array(PlanSchema, { minItems: 1 }) },
  { additionalProperties: false },
);

const matchesSchema = new Ajv({ useDefaults: true, verbose: true, validateSchema: false }).compile<
  Static<typeof CatalogueSchema>
>(CatalogueSchema);

const DEFAULT_FILE = fileURLToPath(new URL('plans.json', BUILT));

/**
 * Reads the catalogue of plans from PLANS_FILE; uses the default catalogue if it is undefined. Throws an Error that
 * names the file, the position in it and the remedy.
 */
export function loadPlans(file: string | undefined): Plan[] {
  const path = file ?? DEFAULT_FILE;
  const catalogue = readJson(path);
  if (!matchesSchema(catalogue)) throw new Error(`${path}: ${explain(matchesSchema.errors?.at(-1))}`);
  const { plans } = catalogue;
  for (const [index, plan] of plans.entries()) {
    const problem = contradiction(plan) ?? repetition(plans, index);
    if (problem) throw new Error(`${path}: plans[${index}] ("${plan.plan_id}"): ${problem}`);
  }
  return plans;
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const advice = 'set PLANS_FILE to a readable file, or leave it unset for the default plans';
    throw new Error(`${path}: cannot be read (${code}); ${advice}.`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${path}: is not JSON (${(cause as Error).message}); correct the file.`, { cause });
  }
}

/** Checks rules that the schema cannot express. */
function contradiction(plan: Plan): string | undefined {
  const { checkout, interval, unit_amount } = plan;
  if (!isCurrency(plan.currency)) {
    return `currency "${plan.currency}" is not known; use an ISO 4217 code in lower case, such as "usd".`;
  }
  if (checkout === 'subscription' && interval === null)
    return 'is a subscription, so set interval to "month" or "year".';
  if (checkout === 'subscription' && unit_amount === 0) {
    return 'is a subscription, so set unit_amount above 0, or checkout to "none" if it costs nothing.';
  }
  if (checkout !== 'subscription' && unit_amount !== 0) {
    return `has checkout "${checkout}", which charges nothing, so set unit_amount to 0, or checkout to "subscription".`;
  }
  if (plan.unlimited && plan.seats !== 0) return 'is unlimited, so set seats to 0, or unlimited to false.';
  return undefined;
}

function repetition(plans: Plan[], index: number): string | undefined {
  const first = plans.findIndex((plan) => plan.plan_id === plans[index]?.plan_id);
  return first === index ? undefined : `has the plan_id of plans[${first}]; choose another one, or remove the plan.`;
}

/**
 * Formats Ajv's last error as a sentence: `plans[2].seats is "3"; it must be integer.` The error of a union follows the
 * errors of its members.
 */
function explain(error: ErrorObject | undefined): string {
  if (!error) return 'does not match the schema of the catalogue.';
  const place = placeOf(error.instancePath);
  if (error.keyword === 'required') return `${place} has no ${error.params.missingProperty}; add it.`;
  if (error.keyword === 'additionalProperties') {
    return `${place} has the unknown property "${error.params.additionalProperty}"; remove it or correct its spelling.`;
  }
  const rule =
    error.keyword === 'anyOf' ? `must be one of ${choices(error.schema as { const?: unknown }[])}` : error.message;
  return `${place} is ${JSON.stringify(error.data).slice(0, 100)}; it ${rule}.`;
}

/** Lists the values of a union of literals and null. */
function choices(anyOf: { const?: unknown }[]): string {
  return anyOf.map((choice) => JSON.stringify(choice.const ?? null)).join(', ');
}

/** Formats a JSON pointer such as `/plans/2/seats` as `plans[2].seats`. */
function placeOf(pointer: string): string {
  if (pointer === '') return 'the catalogue';
  return pointer
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
}
