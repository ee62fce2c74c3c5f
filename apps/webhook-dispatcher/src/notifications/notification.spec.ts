import { parseEndpoint, replayConflict } from './notification.js';

/** The longest valid DNS name has 253 characters. */
const HOST_253 = `${'a.'.repeat(126)}a`;

describe('parseEndpoint', () => {
  it.each([
    ['https://Shop.Example/a?b', 'shop.example:443'],
    ['https://shop.example:8443/', 'shop.example:8443'],
    ['http://127.1:9000/', '127.0.0.1:9000'],
    ['http://localhost/', 'localhost:80'],
    ['https://[2606:4700::1]/', '[2606:4700::1]:443'],
    ['nonsense', 'invalid'],
    [`https://${HOST_253}:65535/`, `${HOST_253}:65535`],
    [`https://${HOST_253}a:65535/`, 'invalid'],
    [`https://${'a.'.repeat(130)}example/`, 'invalid'],
  ])('returns for the URL %s the endpoint %s', (url, endpoint) => {
    expect(parseEndpoint(url)).toBe(endpoint);
  });
});

describe('a replay', () => {
  const candidate = { paymentStatus: 'Success', leased: false, sessionSucceeded: true } as const;

  // A Success is the notification of a successful payment, a Failed is the notification of a failed payment.
  it.each(['pending', 'delivered', 'exhausted', 'gone'] as const)('is possible for a Success in state %s', (state) => {
    expect(replayConflict({ ...candidate, state })).toBeUndefined();
  });

  it.each(['pending', 'delivered', 'exhausted', 'gone'] as const)(
    'is possible for a Failed in state %s until a Success of its session exists',
    (state) => {
      expect(replayConflict({ ...candidate, state, paymentStatus: 'Failed', sessionSucceeded: false })).toBeUndefined();
      expect(replayConflict({ ...candidate, state, paymentStatus: 'Failed', sessionSucceeded: true })).toContain(
        'has been paid',
      );
    },
  );

  it('is rejected while the notification is being sent, and after the notification was superseded', () => {
    expect(replayConflict({ ...candidate, state: 'pending', leased: true })).toContain('being sent');
    const superseded = { ...candidate, state: 'superseded', paymentStatus: 'Failed' } as const;
    expect(replayConflict(superseded)).toContain('has been paid');
    expect(replayConflict({ ...superseded, sessionSucceeded: false })).toContain('has been paid');
  });
});
