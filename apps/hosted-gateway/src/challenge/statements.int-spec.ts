import { randomUUID } from 'node:crypto';
import { planOf } from '@svc/testing';
import { setAttackLevel } from '../../test/challenges.js';
import { type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { findAttackedSites } from './find-attacked-sites.query.js';
import { UsedChallengeRepository } from './used-challenge.repository.js';

let gateway: Gateway;
let used: UsedChallengeRepository;
beforeAll(async () => {
  gateway = await startGateway();
  used = gateway.service.app.get(UsedChallengeRepository);
});
afterAll(() => gateway.stop());

/** Uses a new challenge. */
const use = (lifetimeMs = 300_000): Promise<boolean> => {
  const expiresAtMs = gateway.clock.later(lifetimeMs).getTime();
  return used.use(
    { challengeId: randomUUID(), reference: randomUUID(), solution: 1, expiresAtMs },
    gateway.clock.now(),
  );
};

test('the query finds only sites whose level has not ended, and sites whose merchants always want a challenge', async () => {
  const [attacked, ended, over, always] = [
    await gateway.createMerchant(),
    await gateway.createMerchant(),
    await gateway.createMerchant(),
    await gateway.createMerchant({ challengePayers: true }),
  ];
  await setAttackLevel(gateway, attacked, { level: 2 });
  await setAttackLevel(gateway, ended, { level: 0 });
  await setAttackLevel(gateway, over, { level: 3, untilUTCDate: gateway.clock.later(1_000).toISOString() });
  const found = await findAttackedSites(gateway.dataSource, gateway.clock.now());
  const levelsOf = ({ siteId }: Merchant): unknown[] =>
    found.flatMap((site) => (site.siteId === siteId ? [`${site.mode} ${site.level}`] : []));
  expect([attacked, ended, over, always].map((site) => levelsOf(site).sort())).toEqual([
    ['test 2'],
    [],
    [],
    ['live 1', 'test 1'],
  ]);
});

test('each use of a challenge deletes two uses that have expired more than a minute ago', async () => {
  const countUses = async (): Promise<number | undefined> =>
    (await gateway.dataSource.query<{ count: number }[]>(`SELECT count(*)::int AS count FROM used_challenges`))[0]
      ?.count;
  for (let index = 0; index < 3; index++) await use();
  gateway.clock.advance(360_000);
  await use();
  expect(await countUses()).toBe(4);
  gateway.clock.advance(1);
  await use();
  expect(await countUses()).toBe(3);
  await use();
  expect(await countUses()).toBe(3);
});

test('the statements look up their rows in indexes', async () => {
  const usePlan = await planOf(gateway.dataSource, () => use());
  expect(usePlan).toMatch(/used_challenges_by_expiry/);
  const now = gateway.clock.now();
  const findPlan = await planOf(gateway.dataSource, () => findAttackedSites(gateway.dataSource, now));
  expect(findPlan).toMatch(/ site_attack_levels_until[^]* known_sites_challenge_payers/);
  for (const plan of [usePlan, findPlan]) expect(plan).not.toContain('Seq Scan');
});
