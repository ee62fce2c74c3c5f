import { GaugeReader } from '@svc/testing';
import { createOpenAttempt } from '../../test/attempts/open-attempt.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { SettleAttempt } from '../payments/settle-attempt.js';

let gauges: GaugeReader;
let processor: Processor;
beforeAll(async () => {
  gauges = GaugeReader.begin();
  processor = await startProcessor();
});
afterAll(async () => {
  await processor.stop();
  gauges.end();
});

test('a charge without an outcome is reported after a minute, until it has one', async () => {
  const readCount = async (): Promise<unknown> => (await gauges.read('svc.payments.unresolved'))[0]?.value;
  const settle = processor.service.app.get(SettleAttempt);
  const attempt = await createOpenAttempt(processor);
  await settle.execute(attempt, { kind: 'unknown' });
  expect(await gauges.read('svc.payments.unknown')).toEqual([
    { value: 1, attributes: { mode: attempt.account.mode, acquirer: attempt.acquirer } },
  ]);
  expect(await readCount()).toBe(0);
  processor.clock.advance(60_001);
  expect(await readCount()).toBe(1);

  await settle.execute(attempt, { kind: 'approved', acquirerReference: 'a-1' });
  expect(await readCount()).toBe(0);
});
