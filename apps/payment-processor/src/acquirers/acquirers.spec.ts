import { ManualClock } from '@svc/testing';
import { SecondAcquirer } from '../../test/acquirers/second-acquirer.js';
import type { Acquirer } from './acquirer.js';
import { Acquirers } from './acquirers.js';
import type { MerchantAccountRepository } from './merchant-account.repository.js';

const [first, second] = [new SecondAcquirer('test'), new SecondAcquirer('test', 'live')];
Object.assign(first, { name: 'first' });
const withVault = (SVC_CARD_VAULT: string | undefined, acquirers: Acquirer[] = [first, second]): Acquirers =>
  new Acquirers(
    acquirers,
    {} as MerchantAccountRepository,
    { SVC_CARD_VAULT, SVC_ACQUIRER_LIVE: 'off' },
    new ManualClock(),
  );

test('the vault for new cards is the one of the first configured acquirer, or of the acquirer that the setting names', () => {
  expect(withVault(undefined).vault).toBe(first);
  expect(withVault('second').vault).toBe(second);
});

test('a setting that names no configured acquirer is refused at the start, with the names of the configured acquirers', () => {
  expect(() => withVault('third')).toThrow('SVC_CARD_VAULT must be a configured acquirer: first, second');
});

test('a platform without an acquirer does not start, and the error names the settings', () =>
  expect(() => withVault(undefined, [])).toThrow(
    'There is no acquirer: set the settings of Adyen (SVC_ADYEN_…) or SVC_ACQUIRER_URL.',
  ));

test('an acquirer that is not configured is an error', () => {
  expect(withVault(undefined).get('second')).toBe(second);
  expect(() => withVault(undefined).get('third')).toThrow('No acquirer named third is configured.');
});

test('the acquirers of a mode are those with settings for it', () => {
  const acquirers = withVault(undefined);
  expect([acquirers.names, acquirers.namesFor('test'), acquirers.namesFor('live')]).toEqual([
    ['first', 'second'],
    ['first', 'second'],
    ['second'],
  ]);
});

test.each([
  ['off', undefined],
  ['simulated', undefined],
  ['adyen', { acquirer: 'adyen', account: { mode: 'live', accountReference: 'Shop' } }],
] as const)(
  'with SVC_ACQUIRER_LIVE=%s, an account at Adyen has the live route %j',
  async (SVC_ACQUIRER_LIVE, route) => {
    const adyen = new SecondAcquirer('test', 'live');
    Object.assign(adyen, { name: 'adyen' });
    const find = () => Promise.resolve({ acquirer: 'adyen', accountReference: 'Shop' });
    const accounts = { find } as unknown as MerchantAccountRepository;
    const acquirers = new Acquirers(
      [adyen],
      accounts,
      { SVC_CARD_VAULT: undefined, SVC_ACQUIRER_LIVE },
      new ManualClock(),
    );
    expect(await acquirers.find(1, 'live')).toEqual(route);
    expect(await acquirers.find(1, 'test')).toMatchObject({ acquirer: 'adyen' });
    expect([acquirers.acceptsNew(adyen, 'live'), acquirers.acceptsNew(adyen, 'test')]).toEqual([
      route !== undefined,
      true,
    ]);
    // An existing charge keeps its acquirer, and an administrator can prepare accounts.
    expect(acquirers.get('adyen')).toBe(adyen);
    expect(acquirers.namesFor('live')).toEqual(['adyen']);
  },
);

test('a default account has a live route only at the acquirer of the setting', async () => {
  const acquirer = new SecondAcquirer('test', 'live');
  Object.assign(acquirer, { name: 'simulated', getDefaultAccount: () => 'default' });
  const accounts = { find: () => Promise.resolve(undefined) } as unknown as MerchantAccountRepository;
  const routes = (['off', 'simulated'] as const).map((SVC_ACQUIRER_LIVE) =>
    new Acquirers([acquirer], accounts, { SVC_CARD_VAULT: undefined, SVC_ACQUIRER_LIVE }, new ManualClock()).find(
      1,
      'live',
    ),
  );
  expect((await Promise.all(routes)).map((route) => route?.acquirer)).toEqual([undefined, 'simulated']);
});
