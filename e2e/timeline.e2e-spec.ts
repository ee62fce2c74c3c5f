/** The timeline of a payment from separate processes, over RabbitMQ, as an operator reads it in the terminal. */
import { waitUntil } from '@svc/testing';
import { createSessions, gatewayClient } from './callers/merchant.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
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
