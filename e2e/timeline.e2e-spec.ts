/**
 * The timeline of a payment from separate processes, over RabbitMQ, as an operator reads it in the terminal and in the console.
 * With SVC_DOCS_PICTURES=1 the pictures of the console are written to docs/pages/console.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { PartnerClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { ConsoleBrowser } from './browser/console-browser.js';
import { readQr } from './browser/qr-scanner.js';
import { createSessions, gatewayClient, newSessionRequest } from './callers/merchant.js';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { APPROVED_CARD, preparePayRequest, sendPayRequest } from './callers/payer.js';
import { ROOT } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

it('./svc admin timeline shows a payment with the steps of every service', async () => {
  const platform = await sharedPlatform('distributed');
  const [session] = await createSessions(gatewayClient(platform), 1, 'https://shop.example/hook');
  const { sessionId, redirectUrl } = session!;
  expect(await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl))).toMatchObject({
    state: 'succeeded',
  });
  let text = '';
  await waitUntil('the timeline with the notification', 20_000, async () => {
    const { code, output } = await platform.svc('admin', 'timeline', sessionId);
    text = output;
    return code === 0 && output.includes('notification of the payment recorded');
  });
  for (const step of [
    /hosted-gateway +session created/,
    /payment-processor +payment accepted/,
    /payment-processor +acquirer called\n +acquirer: simulated/,
    /payment-processor +acquirer approved/,
    /payment-processor +payment succeeded/,
    /webhook-dispatcher +notification of the payment recorded/,
  ])
    expect(text).toMatch(step);
  expect(text).not.toContain('Missing');

  const unknown = await platform.svc('admin', 'timeline', 'no such order');
  expect(unknown.code).toBe(1);
  expect(unknown.output).toContain('nothing was found for "no such order"');
});

it('an operator finds a payment by its order number in the console and in the terminal, from the code to the answer of the merchant', async () => {
  const platform = await sharedPlatform('distributed');
  const endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => 200);
  const browser = await ConsoleBrowser.start(platform);
  try {
    const order = `ORDER-${randomUUID().slice(0, 8)}`;
    const request = newSessionRequest(endpoint.url, { merchantOrderId: order });
    const { redirectUrl } = await gatewayClient(platform).createSession(request);
    const screen = await browser.openPage();
    await screen.goto(redirectUrl);
    await screen.getByRole('heading', { name: 'Pay with another device' }).waitFor();
    const code = (await readQr(screen.context().browser()!, await screen.screenshot()))!;
    const { apiUrl, partner } = platform.demo;
    const { service } = new PartnerClient({ apiUrl, ...partner });
    await service.decode(code);
    const { paymentReference } = await service.pay({
      ...{ reference: randomUUID(), code, amount: request.amount, customer: { id: randomUUID() }, card: APPROVED_CARD },
    });
    await waitUntil('the webhook', 30_000, () => Promise.resolve(endpoint.deliveriesOf(paymentReference).length > 0));

    const page = await browser.openPage();
    await browser.acceptOperatorInvitation(page, 'viewer');
    const steps = [/payment accepted/, /acquirer approved/, /payment succeeded/, /status:? 200/];
    await waitUntil('all steps in the console', 30_000, async () => {
      await page.goto(`${platform.demo.consoleUrl}/operator`);
      await page.getByRole('searchbox').fill(order);
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByText('payment succeeded').waitFor({ timeout: 2_000 });
      for (const one of [order, paymentReference, ...steps])
        expect(await page.locator('main').innerText()).toMatch(one);
      return true;
    });
    await browser.expectAccessible(page, 'operator-timeline');
    if (process.env['SVC_DOCS_PICTURES'] === '1')
      await browser.takePictures(page, join(ROOT, 'docs/pages/console'), 'operator-timeline');

    const { code: exitCode, output } = await platform.svc('admin', 'timeline', order);
    expect([exitCode, output]).toEqual([0, expect.stringContaining(paymentReference)]);
    for (const step of steps) expect(output).toMatch(step);
    await browser.closePages();
  } finally {
    await browser.stop();
    await endpoint.stop();
  }
});
