import type { Feature } from '../../platform/feature.ts';
import { cancelSubscription } from './cancel-subscription.ts';
import { changePlan } from './change-plan.ts';
import { getBilling } from './get-billing.ts';
import { listInvoices } from './list-invoices.ts';
import { listPlans } from './list-plans.ts';
import { openPortal } from './open-portal.ts';
import { previewBilling } from './preview-billing.ts';
import { prunePaymentEvents } from './prune-payment-events.job.ts';
import { receiveStripeEvent } from './receive-stripe-event.ts';
import { resumeSubscription } from './resume-subscription.ts';
import { sendBillingMail } from './send-billing-mail.job.ts';
import { startCheckout } from './start-checkout.ts';
import { syncSubscription } from './sync-subscription.job.ts';
import { billingTables } from './tables.ts';

export const billing: Feature = {
  endpoints: [
    listPlans,
    previewBilling,
    getBilling,
    startCheckout,
    changePlan,
    cancelSubscription,
    resumeSubscription,
    openPortal,
    listInvoices,
    receiveStripeEvent,
  ],
  jobs: [syncSubscription, sendBillingMail, prunePaymentEvents],
  tables: billingTables,
};
