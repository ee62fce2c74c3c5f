import { Gates } from './gates.js';

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let isSettled = false;
  void promise.then(() => (isSettled = true));
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  return isSettled;
};

test('a closed gate lets nobody in until it is opened, and other gates are not concerned', async () => {
  const gates = new Gates();
  await gates.close('identity');
  const waiting = gates.enter('identity');
  expect(await settled(waiting)).toBe(false);
  expect(await settled(gates.enter('demo-shop'))).toBe(true);
  gates.open('identity');
  expect(await settled(waiting)).toBe(true);
});

test('closing waits for those inside, each of whom leaves once', async () => {
  const gates = new Gates();
  const leave = [await gates.enter('identity'), await gates.enter('identity')];
  const closed = gates.close('identity');
  leave[0]!();
  leave[0]!();
  expect(await settled(closed)).toBe(false);
  leave[1]!();
  expect(await settled(closed)).toBe(true);
  gates.open('identity');
});
