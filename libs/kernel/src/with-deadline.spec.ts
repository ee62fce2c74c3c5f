import { withDeadline } from './with-deadline.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const never = new Promise<never>(() => undefined);

it('settles as the promise does, and leaves no timer', async () => {
  expect(await withDeadline(Promise.resolve('done'), 1_000, () => 'late')).toBe('done');
  await expect(withDeadline(Promise.reject(new Error('failed')), 1_000, () => 'late')).rejects.toThrow('failed');
  expect(jest.getTimerCount()).toBe(0);
});

it('returns the result of onTimeout after this time, not earlier', async () => {
  const settled = jest.fn();
  const result = withDeadline(never, 1_000, () => 'late').then(settled);
  await jest.advanceTimersByTimeAsync(999);
  expect(settled).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  await result;
  expect(settled).toHaveBeenCalledWith('late');
});

it('throws the error of onTimeout', async () => {
  const result = withDeadline(never, 1_000, () => {
    throw new Error('too late');
  });
  result.catch(() => undefined);
  await jest.advanceTimersByTimeAsync(1_000);
  await expect(result).rejects.toThrow('too late');
});
