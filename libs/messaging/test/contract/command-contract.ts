import { commandType, ERROR_CATALOGUE } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { MessagingHarness } from '../harness/harness.js';

const Double = commandType<{ n: number }, { n: number }>('double.v1');

/** Guarantees of commands: a request gets a reply or an error, not later than its deadline. */
export function commandContract(harness: () => MessagingHarness): void {
  test('the reply of the responder is returned to the requester', async () => {
    await harness().startConsumer('calculator', {
      commands: { [Double.name]: (request) => Promise.resolve({ n: (request as { n: number }).n * 2 }) },
    });
    const { commands } = await harness().startProducer('requester');
    await expect(commands.request(Double, { n: 21 })).resolves.toEqual({ n: 42 });
  });

  test('a DomainError of the responder is thrown by the request', async () => {
    const fields = [{ field: 'n', message: 'n must not be odd.' }];
    const domainError = new DomainError('request.invalid', { message: 'Odd.', fields, retryAfterSeconds: 7 });
    await harness().startConsumer('calculator', { commands: { [Double.name]: () => Promise.reject(domainError) } });
    const { commands } = await harness().startProducer('requester');
    const error: unknown = await commands.request(Double, { n: 1 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({ code: 'request.invalid', message: 'Odd.', fields, retryAfterSeconds: 7 });
  });

  test('any other error of the responder becomes the error "internal", without the original message', async () => {
    await harness().startConsumer('calculator', {
      commands: { [Double.name]: () => Promise.reject(new Error('secret')) },
    });
    const { commands } = await harness().startProducer('requester');
    const request = commands.request(Double, { n: 1 });
    await expect(request).rejects.toMatchObject({ code: 'internal', message: ERROR_CATALOGUE.internal.message });
    expect(harness().logLines).toContainEqual({ level: 'error', message: 'command failed' });
  });

  test('a request without a responder, or without a reply before its deadline, fails with service.not-ready', async () => {
    const { commands } = await harness().startProducer('requester');
    await expect(commands.request(Double, { n: 1 }, 200)).rejects.toMatchObject({ code: 'service.not-ready' });

    let sendReply = (_: unknown): void => undefined;
    const reply = new Promise((resolve) => (sendReply = resolve));
    await harness().startConsumer('calculator', { commands: { [Double.name]: () => reply } });
    await expect(commands.request(Double, { n: 1 }, 50)).rejects.toMatchObject({ code: 'service.not-ready' });
    sendReply({ n: 2 });
  });

  test('a service that stops still replies to requests that it has already received', async () => {
    let sendReply = (_: unknown): void => undefined;
    const reply = new Promise((resolve) => (sendReply = resolve));
    let markReceived = (): void => undefined;
    const received = new Promise<void>((resolve) => (markReceived = resolve));
    const consumer = await harness().startConsumer('calculator', {
      commands: { [Double.name]: () => (markReceived(), reply) },
    });
    const { commands } = await harness().startProducer('requester');
    const request = commands.request(Double, { n: 1 });
    await received;
    const stopped = consumer.stop();
    sendReply({ n: 2 });
    await stopped;
    await expect(request).resolves.toEqual({ n: 2 });
  });
}
