import { type Static, type TSchema, Type } from 'typebox';
import { Flag, Record, Text } from '../core/records.ts';

/** A plan of the catalogue, as a workspace sees it. */
export const Plan = Record({
  plan_id: Type.String(),
  name: Type.String(),
  description: Text,
  interval: Type.String({ description: 'month, year, or "" where nothing is charged by the calendar.' }),
  currency: Type.String({ description: 'ISO 4217 in lower case.' }),
  unit_price: Type.Number({ description: 'For each seat and interval, in major units.' }),
  seats: Type.Integer({ description: 'Seats that come with it; 0 where they are unlimited.' }),
  unlimited: Flag,
  checkout: Type.String({ description: 'How one comes to it: none, subscription or contact_sales.' }),
  current: Type.Boolean({ default: false, description: 'The workspace is on it.' }),
});
export type Plan = Static<typeof Plan>;

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()], { default: null });

/** What a plan would cost the workspace. */
export const BillingPreview = Record({
  plan_id: Type.String(),
  checkout_type: Nullable(Type.String()),
  currency: Nullable(Type.String({ description: 'ISO 4217 in lower case.' })),
  line_items: Type.Array(
    Record({
      name: Type.String(),
      description: Type.String(),
      quantity: Type.Integer(),
      subtotal: Type.Number(),
      total: Type.Number(),
    }),
    { default: [] },
  ),
  redirect_to_checkout: Type.Boolean({ default: false }),
  subtotal: Nullable(Type.Number({ description: 'In major units.' })),
  total: Nullable(Type.Number({ description: 'In major units.' })),
});
export type BillingPreview = Static<typeof BillingPreview>;
