import { MAX_READS, MAX_WAITING_READS, ReadLimit } from './read-limit.js';

test('at most two reads run concurrently, up to 50 reads wait, and further reads are rejected until a read ends', async () => {
  const limit = new ReadLimit();
  const endCallbacks: (() => void)[] = [];
  let maxRunning = 0;
  let running = 0;
  const read = (): Promise<void> =>
    limit.run(async () => {
      maxRunning = Math.max(maxRunning, ++running);
      await new Promise<void>((resolve) => endCallbacks.push(resolve));
      running--;
    });
  const reads = Array.from({ length: MAX_READS + MAX_WAITING_READS }, read);
  await expect(read()).rejects.toMatchObject({ code: 'service.not-ready', retryAfterSeconds: 1 });
  expect(running).toBe(MAX_READS);

  endCallbacks.shift()!();
  await Promise.race(reads);
  reads.push(read());
  let ended = 0;
  const all = Promise.all(reads.map((each) => each.then(() => ended++)));
  while (ended < reads.length) {
    endCallbacks.shift()?.();
    await Promise.resolve();
  }
  await all;
  expect(maxRunning).toBe(MAX_READS);
});

test('a read that fails releases its permit', async () => {
  const limit = new ReadLimit();
  for (let nth = 0; nth < MAX_READS + MAX_WAITING_READS + 1; nth++)
    await expect(limit.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});
