import { CardNumbers } from './card-numbers.ts';
import type { AttemptOutcome } from './checkouts/checkout.ts';
import { payAsRegularPayer, planRegularPayers } from './regular-payers.ts';

const plan = (count: number) => {
  let addresses = 0;
  return planRegularPayers(count, new CardNumbers(0), () => `127.9.0.${addresses++}`);
};

test('of 500 regular payers, 60 % share four addresses, 8 % have a declined first card, and two mistype the CVV twice', () => {
  const payers = plan(500);
  const counts = new Map<string, number>();
  for (const { address } of payers) counts.set(address, (counts.get(address) ?? 0) + 1);
  const shared = [...counts.values()].filter((count) => count > 1);
  expect([shared.length, shared.reduce((sum, count) => sum + count, 0)]).toEqual([4, 300]);
  expect(Math.max(...shared) - Math.min(...shared)).toBeLessThan(10);
  expect(payers.filter(({ cards }) => cards[0]!.cardNumber.startsWith('4999'))).toHaveLength(40);
  const mistyped = payers.filter(({ cards }) => cards[0]!.cardNumber.startsWith('4998'));
  expect(mistyped.map(({ cards }) => cards.slice(0, 3).map(({ cvv }) => cvv))).toEqual([
    ['321', '132', '123'],
    ['321', '132', '123'],
  ]);
});

test.each<[AttemptOutcome[], boolean]>([
  [['approved'], true],
  [['declined', 'refused', 'approved'], true],
  [['verification'], true],
  [['refused', 'challenged', 'refused'], false],
])('a payer whose attempts are %j', async (attempts, isPaid) => {
  const cards = plan(1)[0]!.cards.slice(0, 3);
  const left = [...attempts];
  const checkout = {
    waits: 3,
    pressesAgain: 1,
    attempt: () => Promise.resolve(left.shift()!),
    confirm: () => Promise.resolve('approved' as const),
  };
  const outcomes = attempts[0] === 'verification' ? ['verification', 'approved'] : attempts;
  expect(await payAsRegularPayer({ address: '127.9.0.1', cards }, checkout)).toEqual({
    isPaid,
    outcomes,
    waits: 3,
    pressesAgain: 1,
  });
});
