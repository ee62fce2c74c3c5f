import { waitUntil } from '@svc/testing';
import { TestTransformer } from '../test/test-transformer.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

it('T8: its jobs run repeatedly until it is closed', async () => {
  await pos.sendBasket('17', 100);
  pos.transformer.startJobs();
  for (const made of [2, 3]) {
    pos.clock.advance(3_600_001);
    await waitUntil('another invoice', 10_000, async () => pos.platform.invoices.length === made);
  }
  await pos.transformer.close();
  const { length } = pos.platform.requests;
  await pos.startWithSameDatabase();
  expect(pos.platform.requests).toHaveLength(length);
});
