/** The key of the account and the secret of its webhook endpoint. */
export const STRIPE_KEY = 'sk_test_stand_in';
export const WEBHOOK_SECRET = 'whsec_stand_in';
