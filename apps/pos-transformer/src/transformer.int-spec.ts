import { waitUntil } from '@svc/testing';
import { TestTransformer } from '../test/test-transformer.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

it('T8: the jobs of the transformer run repeatedly until it is closed', async () => {
  await pos.sendBasket('17', 100);
  pos.transformer.startJobs();
  for (const invoiceCount of [2, 3]) {
    // Invoices of the fake platform are valid for one hour, then the job renews them.
    pos.clock.advance(3_600_001);
    await waitUntil('another invoice', 10_000, async () => pos.platform.invoices.length === invoiceCount);
  }
  await pos.transformer.close();
  const requestCount = pos.platform.requests.length;
  await pos.startWithSameDatabase();
  expect(pos.platform.requests).toHaveLength(requestCount);
});
