import { commandType, ERROR_CATALOGUE } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { MessagingHarness } from '../harness/harness.js';

const Double = commandType<{ n: number }, { n: number }>('double.v1');

/** A request is answered, rejected, or abandoned at its deadline. */
export function commandContract(harness: () => MessagingHarness): void {
  test('the answer comes back', async () => {
    await harness().consumer('calculator', {
      commands: { [Double.name]: (request) => Promise.resolve({ n: (request as { n: number }).n * 2 }) },
    });
    const { commands } = await harness().producer('asker');
    await expect(commands.request(Double, { n: 21 })).resolves.toEqual({ n: 42 });
  });

  test('a refusal arrives as the error that was thrown', async () => {
    const fields = [{ field: 'n', message: 'n must not be odd.' }];
    const refused = new DomainError('request.invalid', { message: 'Odd.', fields, retryAfterSeconds: 7 });
    await harness().consumer('calculator', { commands: { [Double.name]: () => Promise.reject(refused) } });
    const { commands } = await harness().producer('asker');
    const error: unknown = await commands.request(Double, { n: 1 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({ code: 'request.invalid', message: 'Odd.', fields, retryAfterSeconds: 7 });
  });

  test('of any other error nothing crosses', async () => {
    await harness().consumer('calculator', { commands: { [Double.name]: () => Promise.reject(new Error('secret')) } });
    const { commands } = await harness().producer('asker');
    const request = commands.request(Double, { n: 1 });
    await expect(request).rejects.toMatchObject({ code: 'internal', message: ERROR_CATALOGUE.internal.message });
    expect(harness().logged).toContainEqual({ level: 'error', message: 'command failed' });
  });

  test('where nobody answers, and after the deadline, it is not ready', async () => {
    const { commands } = await harness().producer('asker');
    await expect(commands.request(Double, { n: 1 }, 200)).rejects.toMatchObject({ code: 'service.not-ready' });

    let answer = (_: unknown): void => undefined;
    const late = new Promise((resolve) => (answer = resolve));
    await harness().consumer('calculator', { commands: { [Double.name]: () => late } });
    await expect(commands.request(Double, { n: 1 }, 50)).rejects.toMatchObject({ code: 'service.not-ready' });
    answer({ n: 2 });
  });

  test('a service that stops answers what it was asked before', async () => {
    let answer = (_: unknown): void => undefined;
    const late = new Promise((resolve) => (answer = resolve));
    let asked = (): void => undefined;
    const wasAsked = new Promise<void>((resolve) => (asked = resolve));
    const consumer = await harness().consumer('calculator', { commands: { [Double.name]: () => (asked(), late) } });
    const { commands } = await harness().producer('asker');
    const request = commands.request(Double, { n: 1 });
    await wasAsked;
    const stopped = consumer.stop();
    answer({ n: 2 });
    await stopped;
    await expect(request).resolves.toEqual({ n: 2 });
  });
}
