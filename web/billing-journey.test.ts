import assert from 'node:assert/strict';
import { type TestOptions, test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { assertAccessible } from '../test/assert-page.ts';
import { launchBrowser, launchFirefox, PAGE_TIMEOUT_MS, skip, skipFirefox } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { cleanUp } from '../test/clean-up.ts';
import { EVERYTHING } from '../test/extent.ts';
import { startMailServer } from '../test/mail-server.ts';
import { STRIPE_KEY, startStripeServer, WEBHOOK_SECRET } from '../test/stripe/server.ts';
import { until } from '../test/until.ts';
import { openWidgetSite } from '../test/widget-site.ts';
import { openWorld } from '../test/world.ts';

const [stripe, mail] = await Promise.all([startStripeServer(), startMailServer()]);
cleanUp(() => Promise.all([stripe.stop(), mail.stop()]));
const { account } = stripe;
account.addPrice({ lookup_key: 'team_monthly', currency: 'usd', unit_amount: 800, interval: 'month' });
account.addPrice({ lookup_key: 'business_monthly', currency: 'usd', unit_amount: 1500, interval: 'month' });
const world = await openWorld({
  STRIPE_SECRET_KEY: STRIPE_KEY,
  STRIPE_WEBHOOK_SECRETS: WEBHOOK_SECRET,
  STRIPE_API_URL: stripe.url,
  SMTP_URL: mail.url,
});
stripe.sendEventsTo(world.address);

test('without a script an owner previews a plan, pays, adds seats, fails to pay, becomes read-only, and pays again', {
  skip,
}, async () => {
  const owner = await world.owner('ada@example.com');
  const context = await openBrowserFor(world, owner.user_id, { javaScriptEnabled: false });
  const page = await context.newPage();
  const plan = `${world.address}/ada/-/billing`;
  /** Reloads the page until it shows these words. */
  const shows = (words: string) =>
    until(`the page shows ${words}`, async () => {
      await page.goto(plan);
      return page.getByText(words).first().isVisible();
    });

  await page.goto(plan);
  await page.getByRole('button', { name: 'Preview the cost of Team', exact: true }).click();
  await page.getByRole('heading', { name: 'What Team would cost' }).waitFor();
  assert.equal(account.customers.size, 0, 'a preview stores nothing');
  await page.goto(`${plan}?plan=enterprise`);
  await page.getByText('Contact the operator of this service').waitFor();
  assert.equal((await page.goto(`${plan}?plan=gold`))?.status(), 400);
  await page.goto(`${plan}?plan=team_monthly`);
  await page.getByRole('button', { name: 'Go to checkout for Team' }).click();
  const payment = page.getByRole('link', { name: 'Pay for the plan' });
  // Stripe's return address has the port of the configuration, not the port of the test.
  const session = [...account.sessions.values()][0];
  assert.ok(session);
  Object.assign(session, { success_url: `${plan}?checkout=done`, cancel_url: `${plan}?checkout=cancelled` });
  await payment.click();
  await page.getByRole('link', { name: 'Back' }).click();
  await page.getByText('Checkout cancelled. Nothing was charged.').waitFor();
  stripe.webhooks.hold(true);
  await page.goto(`${stripe.url}/pay/${session.id}`);
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.getByText('The payment is not confirmed yet.').waitFor();
  stripe.webhooks.hold(false);
  for (const event of stripe.webhooks.take()) await stripe.webhooks.send(event);
  await shows('ada is on Team.');
  await shows('1 seat is paid.');

  await world.member(owner.workspace_id, 'member');
  await shows('2 seats are paid.');
  await page.getByRole('button', { name: 'Preview the cost of Business', exact: true }).click();
  await page.getByRole('button', { name: 'Change to Business and pay' }).click();
  await page.getByText('Plan changed.').waitFor();
  await shows('ada is on Business.');

  const customer = [...account.customers.values()][0];
  assert.ok(customer);
  customer.declines = true;
  account.age(customer.id, 32 * 86_400);
  await shows('Everything works until');
  // A later event of the failed payment would set the end of writing again.
  await until('all events are handled', async () => {
    return (await world.db.query(sql`select from background_jobs where name = 'sync-subscription'`)).length === 0;
  });
  await world.db.query(sql`update subscriptions set writes_end_at = now()`);
  await shows('This workspace is read-only');
  const pages = `/v1/wikis/${owner.wiki_id}/pages`;
  assert.equal((await owner.post(pages, { title: 'Late', markdown: 'Text.' })).body.error, 'payment_required');
  await page.getByRole('button', { name: 'Pay or change payment method' }).click();
  await page.getByRole('link', { name: 'Payment methods and invoices' }).waitFor();
  customer.declines = false;
  for (const { id, status } of account.invoicesOf(customer.id)) if (status === 'open') account.pay(id);
  await until(
    'the workspace has paid',
    async () => (await owner.get(`/v1/organizations/${owner.workspace_id}/billing`)).body.status,
    (status) => status === 'active',
  );
  await shows('The subscription renews on');
  assert.equal((await owner.post(pages, { title: 'Paid', markdown: 'Text.' })).status, 201);

  await page.getByText('Cancel subscription').first().click();
  await page.getByRole('button', { name: 'Cancel subscription' }).click();
  await page.getByText('Subscription cancelled.').waitFor();
  await page.getByRole('button', { name: 'Resume subscription' }).click();
  await page.getByText('Subscription resumed.').waitFor();

  const scripted = await openBrowserFor(world, owner.user_id);
  const accessible = await scripted.newPage();
  await accessible.goto(`${plan}?plan=team_monthly`);
  await assertAccessible(accessible, 'the plan, with a preview and invoices');
});

function testPaymentFromWidget(browser: string, options: TestOptions, launch?: typeof launchFirefox): void {
  test(
    `in the page of another site an owner previews a plan, pays, adds seats, and pays again after read-only, in ${browser}`,
    options,
    async () => {
      const { owner, origin } = await openWidgetSite(world, `${browser.toLowerCase()}@example.com`);
      const page = await (await launchBrowser(launch)).newPage({ locale: 'en-GB' });
      page.setDefaultTimeout(PAGE_TIMEOUT_MS);
      const widget = page.locator('ibid-enterprise');
      const open = async () => {
        await page.goto(origin);
        await widget.getByText('Plan', { exact: true }).click();
      };
      /** Reloads the page until its widget shows these words. */
      const shows = (words: string) =>
        until(`the widget shows ${words}`, async () => {
          await open();
          await widget.getByRole('button', { name: 'Preview Business', exact: true }).waitFor();
          return widget.getByText(words).isVisible();
        });

      await open();
      await widget.getByRole('button', { name: 'Preview Team', exact: true }).click();
      await widget.locator('[part=preview]').getByText('$8.00').last().waitFor();
      await widget.getByRole('button', { name: 'Go to payment' }).click();
      await widget.getByRole('link', { name: 'Pay for the plan' }).click();
      await page.getByRole('button', { name: 'Pay' }).click();
      await page.waitForURL(`${origin}/?checkout=done`);
      await shows('Paid seats: 1');

      await widget.getByLabel('E-mail').fill(`grace@${browser.toLowerCase()}.example`);
      await widget.getByRole('button', { name: 'Invite', exact: true }).click();
      await widget.getByText('1 active, 1 invited').waitFor();
      const grace = await world.person(`grace@${browser.toLowerCase()}.example`);
      const [invitation] = (await grace.get('/v1/me/invitations')).body;
      await grace.post(`/v1/me/invitations/${invitation.invitation_id}/accept`);
      await shows('Paid seats: 2');

      const [customer] = account.customersOf(owner.workspace_id);
      assert.ok(customer);
      customer.declines = true;
      account.age(customer.id, 32 * 86_400);
      await shows('A payment failed. The workspace becomes read-only on');
      account.age(customer.id, 16 * 86_400);
      const [subscription] = account.subscriptionsOf(customer.id);
      assert.ok(subscription);
      // Any event of the customer makes the service ask Stripe.
      account.cancelAtPeriodEnd(subscription, false);
      await shows('The workspace is read-only until it is paid.');
      const pages = `/v1/wikis/${owner.wiki_id}/pages`;
      assert.equal((await owner.post(pages, { title: 'Late', markdown: 'Text.' })).body.error, 'payment_required');
      customer.declines = false;
      for (const { id, status } of account.invoicesOf(customer.id)) if (status === 'open') account.pay(id);
      await shows('Paid seats: 2');
      assert.equal((await owner.post(pages, { title: 'Paid', markdown: 'Text.' })).status, 201);
    },
  );
}

testPaymentFromWidget('Chromium', { skip });
if (EVERYTHING) testPaymentFromWidget('Firefox', { skip: skipFirefox }, launchFirefox);
