/** Checks that the statements of jobs find their rows by indexes, even before the tables are analysed. */
import { planOf } from '@svc/testing';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CaptureRepository } from '../captures/capture.repository.js';
import { CardRepository } from '../cards/card.repository.js';
import { ReversalRepository } from '../reversals/reversal.repository.js';
import { VerificationRepository } from '../verifications/verification.repository.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const CHARGE_INDEXES = ['attempts_pkey', 'payments_pkey', 'payables_pkey'];

test.each<[string, () => Promise<unknown>, string[]]>([
  [
    'due captures',
    () => processor.service.app.get(CaptureRepository).leaseDue('adyen', new Date(), 50),
    ['captures_due', 'captures_pkey', ...CHARGE_INDEXES],
  ],
  [
    'due releases of failed captures',
    () => processor.service.app.get(CaptureRepository).leaseReleases('adyen', new Date(), 50),
    ['captures_to_release', 'captures_pkey', ...CHARGE_INDEXES],
  ],
  [
    'due reversals',
    () => processor.service.app.get(ReversalRepository).leaseDue('adyen', new Date(), 50),
    ['reversals_due', 'reversals_pkey', ...CHARGE_INDEXES],
  ],
  [
    'cards whose only payment has ended',
    () => processor.service.app.get(CardRepository).deleteUsed('adyen'),
    ['cards_vault_deletes_due', 'payments_pkey'],
  ],
  [
    'the verification that a payer opens',
    () => processor.service.app.get(VerificationRepository).findForPayer('P'),
    ['payments_payment_reference', 'payables_pkey', 'verifications_pkey', 'cards_pkey'],
  ],
])('the statement that reads %s uses indexes', async (_, runQuery, indexes) => {
  const plan = await planOf(processor.dataSource, runQuery);
  expect(plan).not.toMatch(/Seq Scan/);
  for (const index of indexes) expect(plan).toMatch(new RegExp(`(using|on) ${index}\\b`));
});
