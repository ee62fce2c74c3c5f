/**
 * Checks the plans of the statements about counters outside payments: none reads a whole table. The plans of the statements
 * that accept and settle payments are in `payments/plans.int-spec.ts`.
 */
import { planOf } from '@svc/testing';
import { createPartner } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { LIMITS_ON } from '../../test/velocity/tested-cards.js';
import { AdministeredCounterRepository } from './administration/administered-counter.repository.js';
import { AttackedSiteRepository } from './attack-levels/attacked-site.repository.js';
import { CardFingerprints } from './card-fingerprints.js';
import { VelocityCounterRepository } from './counters/velocity-counter.repository.js';
import { type PaymentChecks, VelocityChecks } from './velocity-checks.js';
import { VelocityPolicyRepository } from './velocity-policy.repository.js';

let processor: Processor;
let checks: PaymentChecks;
beforeAll(async () => {
  processor = await startProcessor(LIMITS_ON);
  const { organisationId } = await createPartner(processor);
  const { app } = processor.service;
  const subject = { mode: 'test', merchantId: 1, siteId: 1, payer: { organisationId } } as const;
  const fingerprint = app.get(CardFingerprints).ofCard('test', '4242424242424242');
  checks = (await app.get(VelocityChecks).build(subject, fingerprint))!;
});
afterAll(() => processor.stop());

async function plan(action: () => Promise<unknown>): Promise<string> {
  const text = await planOf(processor.dataSource, action);
  expect(text).not.toContain('Seq Scan');
  return text;
}

test('the reason of a refusal is found by the keys of its counters', async () => {
  const counters = processor.service.app.get(VelocityCounterRepository);
  const text = await plan(() => counters.findRefusal(checks, { mode: 'test', siteId: 1 }));
  expect(text.match(/using velocity_counters_pkey on velocity_counters/g)).toHaveLength(2);
  expect(text).toMatch(
    /using attacked_sites_pkey on attacked_sites a [^\n]*\n\s+Index Cond: [^\n]*mode = [^\n]*site_id = /,
  );
});

test('an attempt is freed by the keys of its counters', async () => {
  const counters = processor.service.app.get(VelocityCounterRepository);
  expect(await plan(() => counters.free(checks))).toMatch(
    /velocity_counters_pkey[^\n]*\n\s+Index Cond: \(counter_key = ANY/,
  );
});

test('the level of a site is decided with two look-ups', async () => {
  const text = await plan(() => processor.service.app.get(AttackedSiteRepository).find({ mode: 'test', siteId: 1 }));
  expect(text).toContain('using velocity_counters_pkey on velocity_counters v');
  expect(text).toMatch(
    /using attacked_sites_pkey on attacked_sites a [^\n]*\n\s+Index Cond: [^\n]*mode = [^\n]*site_id = /,
  );
});

test('the job reads one page of the counters, and only attempts that have ended', async () => {
  const counters = processor.service.app.get(VelocityCounterRepository);
  expect(await plan(() => counters.deleteExpired('card:A', 10))).toMatch(
    /using velocity_counters_pkey on velocity_counters [^\n]*\n\s+Index Cond: \(counter_key > /,
  );
  expect(await plan(() => counters.forgetKeys(processor.clock.now(), 10))).toMatch(
    /attempts_with_ended_counters [^\n]*\n\s+Index Cond: [^\n]*\(ended_at <= /,
  );
});

test('metrics read only sites under attack', async () => {
  const sites = processor.service.app.get(AttackedSiteRepository);
  expect(await plan(() => sites.countByLevel())).toContain('attacked_sites_now');
  const text = await plan(() => sites.listAttacked(20));
  expect(text).toContain('attacked_sites_now');
  expect(text).toContain('using velocity_counters_pkey on velocity_counters v');
});

test('a merchant’s limits and the counters of a subject are found by their keys', async () => {
  const { app } = processor.service;
  expect(await plan(() => app.get(VelocityPolicyRepository).find(1, 'test'))).toContain('velocity_policies_pkey');
  const administered = app.get(AdministeredCounterRepository);
  expect(await plan(() => administered.find(checks.keys))).toContain('velocity_counters_pkey');
  const findCard = () =>
    administered.findKeys({ kind: 'card', paymentReference: '1MT83H0DZX37GHR05K' }).catch(() => undefined);
  const text = await plan(findCard);
  expect(text).toContain('using payments_payment_reference on payments p');
  expect(text).toMatch(/attempts_one_open/);
});
